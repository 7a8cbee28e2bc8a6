import type { Command } from 'commander';
import type { EndpointChanges } from '@hqrelay/db/queries/endpoints';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, UsageError } from '../cli.ts';
import {
  addEndpointOptions,
  checkUrl,
  type EndpointOptions,
  refuseOptionsWithoutEffect,
} from '../options/endpoint-options.ts';
import { readEndpointTls, sealEndpointTls } from '../options/endpoint-tls.ts';
import { readFixedHeaders } from '../options/fixed-headers.ts';
import { sealHeaders } from '../options/new-secret.ts';
import { uuid } from '../options/options.ts';
import { printResult } from '../output/print.ts';
import { saveEndpoint } from '../config-change/save-endpoint.ts';

type Options = EndpointOptions & { json?: boolean };

export function addEndpointUpdate(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('update')
    .description('change what is given, and nothing else; --header replaces all fixed headers')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--url <url>', 'where webhooks are posted to');
  addEndpointOptions(command)
    .option('--no-header', 'take all fixed headers away')
    .option('--no-forward-credentials', "take the provider's credential off")
    .option('--no-ca', 'check its certificate against the public authorities')
    .option('--no-client-cert', 'show it no certificate')
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: Options) => updateEndpoint(cli, endpointId, options));
}

async function updateEndpoint(cli: Cli, endpointId: string, options: Options): Promise<void> {
  const changes = await endpointChanges(cli, endpointId, options);
  if (Object.keys(changes).length === 0) {
    throw new UsageError('nothing to change: give at least one option, see hqrelay endpoint update --help');
  }
  const endpoint = await saveEndpoint(cli, endpointId, changes);
  printResult(cli, options, endpoint, () => `Updated the endpoint ${endpoint.url}`);
}

async function endpointChanges(cli: Cli, endpointId: string, options: Options): Promise<EndpointChanges> {
  refuseOptionsWithoutEffect(options);
  const headers = await readFixedHeaders(cli, options);
  const secretsKey = () => loadConfig(['HQRELAY_SECRETS_KEY'], cli.env).secretsKey;
  const { url, events, retry, timeout, forwardCredentials } = options;
  return {
    ...(url !== undefined && {
      url: checkUrl(loadConfig(['ALLOW_PRIVATE_ENDPOINTS', 'ALLOW_ENDPOINT_CIDRS'], cli.env), url),
    }),
    ...(events && { eventTypes: events }),
    ...(retry && { retrySchedule: retry }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(headers && sealHeaders({ secretsKey: secretsKey() }, endpointId, headers)),
    ...(forwardCredentials !== undefined && { forwardCredentials }),
    ...sealEndpointTls(secretsKey, endpointId, options, await readEndpointTls(cli, options)),
  };
}
