import type { Command } from 'commander';
import { newId } from '@hqrelay/domain/ids';
import { parseRetrySchedule } from '@hqrelay/domain/delivery/retry-schedule';
import * as queries from '@hqrelay/db/queries/endpoints';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { announceChange } from '../config-change/announce-change.ts';
import { type Cli, CommandFailure, UsageError } from '../cli.ts';
import { withDatabase } from '../database.ts';
import {
  addEndpointOptions,
  checkUrl,
  type EndpointOptions,
  refuseOptionsWithoutEffect,
} from '../options/endpoint-options.ts';
import { readEndpointTls, sealEndpointTls } from '../options/endpoint-tls.ts';
import { readFixedHeaders } from '../options/fixed-headers.ts';
import { newEndpointSecret, sealHeaders } from '../options/new-secret.ts';
import { uuid } from '../options/options.ts';
import { formatFields, printResult } from '../output/print.ts';

type Options = EndpointOptions & { project: string; url: string; json?: boolean };

export function addEndpointAdd(endpoint: Command, cli: Cli): void {
  const command = endpoint
    .command('add')
    .description('add an endpoint, and print the secret that its deliveries are signed with')
    .requiredOption('--project <project-id>', 'the project', uuid)
    .requiredOption('--url <url>', 'where webhooks are posted to');
  addEndpointOptions(command)
    .option('--json', 'print one JSON value')
    .action((options: Options) => addEndpoint(cli, options));
}

async function addEndpoint(cli: Cli, options: Options): Promise<void> {
  refuseOptionsWithoutEffect(options);
  const config = loadConfig(
    [
      'DATABASE_URL',
      'REDIS_URL',
      'HQRELAY_SECRETS_KEY',
      'ALLOW_PRIVATE_ENDPOINTS',
      'ALLOW_ENDPOINT_CIDRS',
      'DELIVERY_TIMEOUT_MS',
      'CONFIG_CACHE_TTL_SECONDS',
    ],
    cli.env,
  );
  const endpointId = newId();
  const url = checkUrl(config, options.url);
  const tls = await readEndpointTls(cli, options);
  if ((tls.ca || tls.client) && !/^https:/i.test(url)) {
    throw new UsageError('--ca and --client-cert are for https URLs: plain http has no certificates');
  }
  const settings = {
    url,
    eventTypes: options.events ?? [],
    retrySchedule: options.retry ?? parseRetrySchedule('hqrelay'),
    timeoutMs: options.timeout ?? config.deliveryTimeoutMs,
    orderingKey: null,
    forwardCredentials: options.forwardCredentials ?? false,
    ...sealHeaders(config, endpointId, (await readFixedHeaders(cli, options)) ?? []),
    caCertificates: null,
    sealedClientCertificate: null,
    clientCertificateKeyId: null,
    ...sealEndpointTls(() => config.secretsKey, endpointId, options, tls),
  };
  const { value, row } = newEndpointSecret(config);
  const isAdded = await withDatabase(config.databaseUrl, (pool) =>
    queries.addEndpoint(pool, { id: endpointId, projectId: options.project, settings, secret: row }),
  );
  if (!isAdded) throw new CommandFailure(`there is no project ${options.project}`);
  await announceChange(cli, config, options.project);
  const added = { endpointId, signingSecret: value };
  printResult(cli, options, added, () => {
    const fields = {
      'endpoint id': endpointId,
      'signing secret': value,
      events: settings.eventTypes.join(',') || 'all',
      retries: settings.retrySchedule.join(','),
    };
    return `Added the endpoint. Its signing secret is shown this once only.\n${formatFields(fields)}`;
  });
}
