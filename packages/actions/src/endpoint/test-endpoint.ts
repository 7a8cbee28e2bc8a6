import { readEndpoint, type SealedEndpoint } from '@hqrelay/db/queries/endpoints';
import {
  judgeAttempt,
  type AttemptOutcome,
  type HttpExchange,
} from '@hqrelay/domain/delivery/attempt-outcome';
import { deliveryHeaders, signingKeyOf } from '@hqrelay/domain/delivery/outbound-signing';
import { newId } from '@hqrelay/domain/ids';
import type { ClientCertificate, EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import { maskExchange, secretsSent } from '@hqrelay/domain/secrets/mask-secrets';
import { open, parseSecretKeys, SecretUnreadable } from '@hqrelay/domain/secrets/secret-box';
import type pg from 'pg';
import { done, refused, type ActionResult } from '../action.ts';

export type PingRequest = {
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  timeoutMs: number;
  tls: EndpointTls;
};

export type TestDeps = {
  pool: pg.Pool;
  secretsKey: string;
  send: (request: PingRequest) => Promise<HttpExchange>;
};

export type PingResult = {
  endpointId: string;
  webhookId: string;
  ok: boolean;
  statusCode: number | null;
  latencyMs: number;
  /** The phase that failed; null when the endpoint answered. */
  phase: Extract<HttpExchange, { kind: 'error' }>['phase'] | null;
  error: string | null;
  responseBody: string | null;
};

type OpenedEndpoint = { secrets: string[]; fixedHeaders: [string, string][]; tls: EndpointTls };

/** Posts a signed ping to an endpoint, also to one that is paused or disabled. Changes nothing. `now` in ms since epoch. */
export async function testEndpoint(
  { pool, secretsKey, send }: TestDeps,
  endpointId: string,
  now: number,
): Promise<ActionResult<{ endpoint: SealedEndpoint; ping: PingResult }>> {
  const endpoint = await readEndpoint(pool, endpointId);
  if (!endpoint) return refused('endpoint.not_found', `there is no endpoint ${endpointId}`);
  const opened = openEndpoint(secretsKey, endpoint);
  if (opened.kind === 'refused') return opened;
  const { webhookId, headers, body } = createPing(endpointId, opened.value, now);
  const { url, timeoutMs } = endpoint;
  const answered = await send({ url, headers, body, timeoutMs, tls: opened.value.tls });
  const exchange = maskExchange(answered, () => secretsSent({ headers, credentials: [], ...opened.value }));
  const outcome = judgeAttempt(exchange, { now, timeoutMs });
  return done({ endpoint, ping: { endpointId, webhookId, ...resultOf(exchange, outcome) } });
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

function resultOf(
  exchange: HttpExchange,
  outcome: AttemptOutcome,
): Omit<PingResult, 'endpointId' | 'webhookId'> {
  return {
    ok: outcome.kind === 'delivered',
    statusCode: outcome.statusCode,
    latencyMs: exchange.latencyMs,
    phase: exchange.kind === 'error' ? exchange.phase : null,
    error: outcome.kind === 'delivered' ? null : outcome.error,
    responseBody: exchange.kind === 'response' ? Buffer.from(exchange.bodyHead).toString('utf8') : null,
  };
}

/** Refused with the name of the row whose secret does not open. */
function openEndpoint(secretsKey: string, endpoint: SealedEndpoint): ActionResult<OpenedEndpoint> {
  const keys = parseSecretKeys(secretsKey);
  const opened = (sealed: string | null, keyId: string | null, column: string): unknown =>
    sealed !== null && keyId !== null
      ? JSON.parse(open(keys, { sealed, keyId }, `${column}:${endpoint.id}`))
      : undefined;
  const { sealedHeaders, headersKeyId, sealedClientCertificate, clientCertificateKeyId } = endpoint;
  try {
    const headers = opened(sealedHeaders, headersKeyId, 'endpoints.headers');
    const client = opened(sealedClientCertificate, clientCertificateKeyId, 'endpoints.tls');
    return done({
      secrets: endpoint.secrets.map((secret) => open(keys, secret, `endpoint_secrets:${secret.id}`)),
      fixedHeaders: (headers ?? []) as [string, string][],
      tls: { ca: endpoint.caCertificates ?? undefined, client: client as ClientCertificate | undefined },
    });
  } catch (error) {
    if (error instanceof SecretUnreadable) return refused('secret.unreadable', error.message);
    throw error;
  }
}
