import { updateEndpointSettings } from '@hqrelay/actions/endpoint/change-endpoint';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, UsageError } from '../cli.ts';
import { addEndpointOptions, checkedSettings, type EndpointOptions } from '../options/endpoint-options.ts';
import { readEndpointTls, tlsChanges } from '../options/endpoint-tls.ts';
import { readFixedHeaders } from '../options/fixed-headers.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = EndpointOptions & { json?: boolean };

export function addEndpointUpdate(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('update')
    .description('change what is given, and nothing else; --header replaces all fixed headers')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--url <url>', 'where webhooks are posted to');
  addEndpointOptions(command)
    .option('--no-header', 'take all fixed headers away')
    .option('--no-ordering-key', 'deliver webhooks that come from now on in no order')
    .option('--no-forward-credentials', "take the provider's credential off")
    .option('--no-ca', 'check its certificate against the public authorities')
    .option('--no-client-cert', 'show it no certificate')
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: Options) => update(cli, endpointId, options));
}

async function update(cli: Cli, endpointId: string, options: Options): Promise<void> {
  const changes = checkedSettings(cli, await changesOf(cli, options));
  if (Object.keys(changes).length === 0) {
    throw new UsageError('nothing to change: give at least one option, see hqrelay endpoint update --help');
  }
  const config = loadConfig(actionVariables, cli.env);
  const endpoint = await performAction(cli, config, (deps) =>
    updateEndpointSettings(deps, endpointId, changes),
  );
  printResult(cli, options, endpoint, () => `Updated the endpoint ${redactUrl(endpoint.url)}`);
}

async function changesOf(cli: Cli, options: Options) {
  const { url, events, retry, timeout, orderingKey, onDeadLetter, forwardCredentials } = options;
  const fixedHeaders = await readFixedHeaders(cli, options);
  return {
    ...(url !== undefined && { url }),
    ...(events && { eventTypes: events }),
    ...(retry && { retrySchedule: retry }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(orderingKey !== undefined && { orderingKey: orderingKey || null }),
    ...(onDeadLetter && { onDeadLetter }),
    ...(fixedHeaders && { fixedHeaders }),
    ...(forwardCredentials !== undefined && { forwardCredentials }),
    ...tlsChanges(options, await readEndpointTls(cli, options)),
  };
}
