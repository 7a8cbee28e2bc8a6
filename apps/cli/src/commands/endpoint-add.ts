import { addEndpoint } from '@hqrelay/actions/endpoint/add-endpoint';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { addEndpointOptions, checkedSettings, type EndpointOptions } from '../options/endpoint-options.ts';
import { readEndpointTls } from '../options/endpoint-tls.ts';
import { readFixedHeaders } from '../options/fixed-headers.ts';
import { uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';
import { actionVariables, performAction } from '../perform-action.ts';

type Options = EndpointOptions & { project: string; url: string; json?: boolean };

export function addEndpointAdd(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('add')
    .description('add an endpoint, and print the secret that its deliveries are signed with')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .requiredOption('--url <url>', 'where webhooks are posted to');
  addEndpointOptions(command)
    .option('--json', 'print one JSON value')
    .action((options: Options) => add(cli, options));
}

async function add(cli: Cli, options: Options): Promise<void> {
  const config = loadConfig([...actionVariables, 'HQRELAY_SECRETS_KEY', 'DELIVERY_TIMEOUT_MS'], cli.env);
  const tls = await readEndpointTls(cli, options);
  const settings = checkedSettings(cli, {
    url: options.url,
    eventTypes: options.events ?? [],
    retrySchedule: options.retry ?? parseRetrySchedule('hqrelay'),
    timeoutMs: options.timeout ?? config.deliveryTimeoutMs,
    orderingKey: options.orderingKey || null,
    onDeadLetter: options.onDeadLetter ?? 'continue',
    forwardCredentials: options.forwardCredentials ?? false,
    fixedHeaders: (await readFixedHeaders(cli, options)) ?? null,
    caCertificates: tls.ca ?? null,
    clientCertificate: tls.client ?? null,
  });
  const { endpoint, signingSecret } = await performAction(cli, config, (deps) =>
    addEndpoint(deps, options.project, settings),
  );
  const added = { endpointId: endpoint.id, signingSecret };
  printResult(cli, options, added, () => {
    const fields = {
      'endpoint id': endpoint.id,
      'signing secret': signingSecret,
      events: endpoint.eventTypes.join(',') || 'all',
      retries: endpoint.retrySchedule.join(','),
      ...(endpoint.orderingKey && { 'in order of': endpoint.orderingKey }),
    };
    return `Added the endpoint. Its signing secret is shown this once only.\n${formatFields(fields)}`;
  });
}
