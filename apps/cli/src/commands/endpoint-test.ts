import type { Command } from 'commander';
import {
  type AttemptOutcome,
  type HttpExchange,
  judgeAttempt,
} from '@hqrelay/domain/delivery/attempt-outcome';
import type { ClientCertificate, EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import { newId } from '@hqrelay/domain/ids';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { deliveryHeaders, signingKeyOf } from '@hqrelay/domain/delivery/outbound-signing';
import { maskExchange, secretsSent } from '@hqrelay/domain/secrets/mask-secrets';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { open, parseSecretKeys, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import * as queries from '@hqrelay/db/queries/endpoints';
import type { OutboundRequest } from '@hqrelay/outbound/send-request';
import { loadConfig } from '@hqrelay/runtime/env/env';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { onOneLine, printResult } from '../output/print.ts';

type PingResult = {
  endpointId: string;
  webhookId: string;
  ok: boolean;
  statusCode: number | null;
  latencyMs: number;
  /** The phase that failed; null when the endpoint answered. */
  phase: string | null;
  error: string | null;
  responseBody: string | null;
};

type OpenedEndpoint = { secrets: string[]; fixedHeaders: [string, string][]; tls: EndpointTls };

const variableNames = [
  'CONSOLE_DATABASE_URL',
  'HQRELAY_SECRETS_KEY',
  'ALLOW_PRIVATE_ENDPOINTS',
  'ALLOW_ENDPOINT_CIDRS',
  'DNS_SERVERS',
  'EGRESS_PROXY',
] as const;

type Config = ReturnType<typeof loadConfig<(typeof variableNames)[number]>>;

export function addEndpointTest(endpoint: Command, cli: Cli): void {
  endpoint
    .command('test')
    .description('send a signed ping (event type hqrelay.ping) and say what came of it')
    .argument('<endpoint-id>', 'the endpoint', uuid)
    .option('--json', 'print one JSON value')
    .action((endpointId: string, options: { json?: boolean }) => testEndpoint(cli, endpointId, options));
}

async function testEndpoint(cli: Cli, endpointId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(variableNames, cli.env);
  const endpoint = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    queries.readEndpoint(pool, endpointId),
  );
  if (!endpoint) throw new CommandFailure(`there is no endpoint ${endpointId}`);

  const opened = openEndpoint(config.secretsKey, endpoint);
  const now = Date.now();
  const ping = createPing(endpointId, opened, now);
  const { url, timeoutMs, enabled, paused } = endpoint;
  const answered = await send(config, { ...ping, url, timeoutMs, tls: opened.tls });

  const sent = { headers: ping.headers, credentials: [], ...opened };
  const exchange = maskExchange(answered, () => secretsSent(sent));
  const result = resultOf(exchange, judgeAttempt(exchange, { now, timeoutMs }), {
    endpointId,
    webhookId: ping.webhookId,
  });
  const sentence = describe(redactUrl(url), exchange, result);
  if (result.ok || options.json) printResult(cli, options, result, () => sentence);
  if (!enabled || paused) {
    cli.warn(`note: the endpoint is ${enabled ? 'paused' : 'disabled'}; webhooks are not sent to it\n`);
  }
  if (!result.ok) throw new CommandFailure(sentence);
}

/** A webhook of one attempt, signed as a delivery is. */
function createPing(endpointId: string, { secrets, fixedHeaders }: OpenedEndpoint, now: number) {
  const webhookId = newId(now);
  const ping = { type: 'hqrelay.ping', timestamp: new Date(now).toISOString(), data: { endpointId } };
  const body = Buffer.from(JSON.stringify(ping));
  const headers = deliveryHeaders({
    providerHeaders: [
      ['content-type', 'application/json'],
      ['user-agent', 'hqrelay'],
      ['x-event-type', ping.type],
    ],
    fixedHeaders,
    signingKeys: secrets.map(signingKeyOf),
    webhookLogId: webhookId,
    attemptNum: 1,
    correlationId: webhookId,
    body,
    now,
  });
  return { webhookId, headers, body };
}

async function send(config: Config, request: OutboundRequest): Promise<HttpExchange> {
  const { createSender } = await import('@hqrelay/outbound/send-request');
  const { createResolveHost } = await import('@hqrelay/outbound/names/resolve-host');
  const sender = createSender({
    policy: parsePolicy({
      allowPrivate: config.allowPrivateEndpoints,
      allowCidrs: config.allowEndpointCidrs,
    }),
    egressProxy: config.egressProxy,
    resolve: createResolveHost({ nameServers: config.dnsServers }),
    connectionsPerOrigin: 1,
    idleConnectionsMax: 1,
  });
  const exchange = await sender.send(request);
  await sender.close();
  return exchange;
}

function resultOf(
  exchange: HttpExchange,
  outcome: AttemptOutcome,
  ids: Pick<PingResult, 'endpointId' | 'webhookId'>,
): PingResult {
  return {
    ...ids,
    ok: outcome.kind === 'delivered',
    statusCode: outcome.statusCode,
    latencyMs: exchange.latencyMs,
    phase: exchange.kind === 'error' ? exchange.phase : null,
    error: outcome.kind === 'delivered' ? null : outcome.error,
    responseBody: exchange.kind === 'response' ? Buffer.from(exchange.bodyHead).toString('utf8') : null,
  };
}

/** Throws CommandFailure naming the row whose secret does not open. */
function openEndpoint(secretsKey: string, endpoint: queries.SealedEndpoint): OpenedEndpoint {
  const keys = parseSecretKeys(secretsKey);
  const { id } = endpoint;
  const opened = (sealed: string | null, keyId: string | null, column: string): unknown =>
    sealed !== null && keyId !== null
      ? JSON.parse(open(keys, { sealed, keyId }, `${column}:${id}`))
      : undefined;
  const { sealedHeaders, headersKeyId, sealedClientCertificate, clientCertificateKeyId } = endpoint;
  try {
    const headers = opened(sealedHeaders, headersKeyId, 'endpoints.headers');
    const client = opened(sealedClientCertificate, clientCertificateKeyId, 'endpoints.tls');
    return {
      secrets: endpoint.secrets.map((secret) => open(keys, secret, `endpoint_secrets:${secret.id}`)),
      fixedHeaders: (headers ?? []) as [string, string][],
      tls: { ca: endpoint.caCertificates ?? undefined, client: client as ClientCertificate | undefined },
    };
  } catch (error) {
    if (error instanceof SecretUnreadable) throw new CommandFailure(error.message);
    throw error;
  }
}

const phases: Readonly<Record<Extract<HttpExchange, { kind: 'error' }>['phase'], string>> = {
  policy: 'before a connection was made',
  socket: 'while the request was sent',
  dns: 'when its name was looked up',
  connect: 'when connecting',
  tls: 'in the TLS handshake',
  headers: 'when waiting for the answer',
  body: 'when reading the answer',
};

function describe(url: string, exchange: HttpExchange, result: PingResult): string {
  if (exchange.kind === 'error') {
    return `the ping to ${url} failed ${phases[exchange.phase]}, after ${result.latencyMs} ms: ${result.error}`;
  }
  if (result.ok) return `The ping to ${url} was answered ${result.statusCode} after ${result.latencyMs} ms.`;
  const answer = result.responseBody && `; the answer says: ${onOneLine(result.responseBody)}`;
  return `the ping to ${url} arrived and was refused after ${result.latencyMs} ms: ${result.error}${answer || ''}`;
}
