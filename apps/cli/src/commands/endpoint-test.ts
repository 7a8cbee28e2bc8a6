import { testEndpoint, type PingRequest, type PingResult } from '@hqrelay/actions/endpoint/test-endpoint';
import type { HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { redactUrl } from '@hqrelay/domain/secrets/redaction';
import { loadConfig } from '@hqrelay/runtime/env/env';
import type { Command } from 'commander';
import { type Cli, CommandFailure } from '../cli.ts';
import { withDatabase } from '../database.ts';
import { uuid } from '../options/options.ts';
import { onOneLine, printResult } from '../output/print.ts';
import { valueOf } from '../perform-action.ts';

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
    .action((endpointId: string, options: { json?: boolean }) => test(cli, endpointId, options));
}

async function test(cli: Cli, endpointId: string, options: { json?: boolean }): Promise<void> {
  const config = loadConfig(variableNames, cli.env);
  const { secretsKey } = config;
  const tested = await withDatabase(config.consoleDatabaseUrl, (pool) =>
    testEndpoint({ pool, secretsKey, send: (request) => send(config, request) }, endpointId, Date.now()),
  );
  const {
    endpoint: { url, enabled, paused },
    ping,
  } = valueOf(cli, tested);
  const sentence = describe(redactUrl(url), ping);
  if (ping.ok || options.json) printResult(cli, options, ping, () => sentence);
  if (!enabled || paused) {
    cli.warn(`note: the endpoint is ${enabled ? 'paused' : 'disabled'}; webhooks are not sent to it\n`);
  }
  if (!ping.ok) throw new CommandFailure(sentence);
}

async function send(config: Config, request: PingRequest): Promise<HttpExchange> {
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

const phases: Readonly<Record<NonNullable<PingResult['phase']>, string>> = {
  policy: 'before a connection was made',
  socket: 'while the request was sent',
  dns: 'when its name was looked up',
  connect: 'when connecting',
  tls: 'in the TLS handshake',
  headers: 'when waiting for the answer',
  body: 'when reading the answer',
};

function describe(
  url: string,
  { ok, statusCode, latencyMs, phase, error, responseBody }: PingResult,
): string {
  if (phase !== null) {
    return `the ping to ${url} failed ${phases[phase]}, after ${latencyMs} ms: ${error}`;
  }
  if (ok) return `The ping to ${url} was answered ${statusCode} after ${latencyMs} ms.`;
  const answer = responseBody && `; the answer says: ${onOneLine(responseBody)}`;
  return `the ping to ${url} arrived and was refused after ${latencyMs} ms: ${error}${answer || ''}`;
}
