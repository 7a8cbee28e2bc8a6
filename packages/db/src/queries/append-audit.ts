import type { CredentialPlace } from '@hqrelay/domain/inbound/forwarded-credentials';
import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { insertAttempts, insertOrderedWebhooks, insertWebhooks, type OnConflict } from './audit-inserts.ts';
import { markStale, staleBuckets } from './stale-statistics.ts';

export type WebhookLogRow = {
  /** UUIDv7; the time inside it is `received_at`. */
  id: string;
  projectId: string;
  webhookId: string;
  eventType: string | null;
  status: 'queued' | 'duplicate' | 'conflict' | 'rate_limited' | 'rejected' | 'failed_to_queue';
  reason: string | null;
  endpointIds: readonly string[];
  duplicateOf: string | null;
  payloadSha256: string | null;
  payloadBytes: number;
  /** How many requests the row stands for; 1 unless it says otherwise. */
  requestCount?: number;
  /** True where the same body under another webhook id is a duplicate of this webhook. */
  bodyIsKey?: boolean;
  remoteAddr: string | null;
  correlationId: string;
};

export type WebhookPayloadRow = {
  payload: Buffer;
  headers: readonly (readonly [string, string])[];
  query: string;
  /** Where secrets of the project stood in credential headers, for a replay that puts them back. */
  credentials?: readonly CredentialPlace[];
};

export type DeliveryAttemptRow = {
  /** UUIDv7; the time inside it is `attempted_at`. */
  id: string;
  deliveryId: string;
  webhookLogId: string;
  projectId: string;
  endpointId: string;
  lane: 'live' | 'retry' | 'replay';
  attemptNum: number;
  status: 'delivered' | 'failed' | 'dead_lettered';
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
  responseBody: string | null;
  correlationId: string;
  /** ms since epoch. */
  nextAttemptAt: number | null;
};

/** The place of a webhook's deliveries behind earlier ones of their keys. */
export type WebhookOrdering = {
  deliveries: readonly { deliveryId: string; endpointId: string; key: string }[];
  /** When the webhook was accepted, µs since epoch. */
  acceptedAtUs: number;
  /** Whether webhooks that were accepted before it may be missing in Postgres: then it gets no sequence yet. */
  isEarly: boolean;
};

/** A message to be published when the broker is back; `id` is the same for every duplicate of it. */
export type OutboxRow = { id: string; exchange: string; routingKey: string; message: Buffer };

export type WebhookRow = {
  kind: 'webhook';
  log: WebhookLogRow;
  payload: WebhookPayloadRow | null;
  /** Committed together with the facts, or not at all. */
  outbox?: OutboxRow;
  /** Of a webhook that owes a delivery to an ordered endpoint; its sequences are committed together with the facts. */
  ordering?: WebhookOrdering | undefined;
};

export type AuditRow = WebhookRow | { kind: 'attempt'; attempt: DeliveryAttemptRow };

/** The time that decides a row's partition: the one inside its own id. ms since epoch. */
export function timeOfRow(row: AuditRow): number {
  return timeOfId(row.kind === 'webhook' ? row.log.id : row.attempt.id);
}

/**
 * Commits the rows, all or none; a row that exists already stays as it is. Attempts, unordered and ordered webhooks are one
 * statement and one transaction each. Returns the ids of attempts that have a row of another id already: another worker made the same
 * attempt. Throws the error of Postgres.
 */
export async function appendAudit(pool: pg.Pool, rows: readonly AuditRow[]): Promise<ReadonlySet<string>> {
  const webhooks = rows.filter((row) => row.kind === 'webhook');
  const ordered = webhooks.filter(({ ordering }) => ordering);
  const unordered = ordered.length > 0 ? webhooks.filter(({ ordering }) => !ordering) : webhooks;
  const attempts = rows.filter((row) => row.kind === 'attempt');
  const [overtaken] = await Promise.all([
    attempts.length > 0 ? appendAttempts(pool, attempts) : noIds,
    unordered.length > 0 ? appendWebhooks(pool, insertWebhooks, unordered) : undefined,
    ordered.length > 0 ? appendWebhooks(pool, insertOrderedWebhooks, ordered) : undefined,
  ]);
  return overtaken;
}

const noIds: ReadonlySet<string> = new Set();

/**
 * Rows exist already only after a crash or a lost answer, and looking for them costs Postgres a third of an insert. So the
 * statement runs without it first, and again with it where a row exists.
 */
async function insert(
  pool: pg.Pool,
  statement: (onConflict: OnConflict) => string,
  values: unknown[],
): Promise<pg.QueryResult> {
  try {
    return await pool.query(statement(''), values);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return pool.query(statement('on conflict do nothing'), values);
  }
}

const isUniqueViolation = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '23505';

async function appendWebhooks(
  pool: pg.Pool,
  statement: (onConflict: OnConflict) => string,
  rows: readonly WebhookRow[],
): Promise<void> {
  const blob: Buffer[] = [];
  let blobLength = 0;
  const place = (bytes: Buffer): number => {
    blob.push(bytes);
    blobLength += bytes.length;
    return blobLength - bytes.length;
  };
  const times = rows.map(({ log }) => timeOfId(log.id));
  const facts = rows.map((row, index) => storable(factOf(row, index, times[index] as number, place)));
  // The bytes of a large row alone are not copied.
  const bytes = blob.length === 1 ? blob[0] : Buffer.concat(blob, blobLength);
  const values = [`[${facts.join()}]`, bytes];
  const stale = staleBuckets(times, Date.now());
  const marks = stale ? `${markStale('$3')}, ` : '';
  await insert(
    pool,
    (onConflict) => `with ${marks}${statement(onConflict)}`,
    stale ? [...values, stale] : values,
  );
}

/**
 * The columns of `batch` in audit-inserts.ts, where null and absent are the same. Every field is named: V8 builds an object from spreads many times
 * slower.
 */
function factOf(
  { log, payload, outbox, ordering }: WebhookRow,
  index: number,
  receivedAt: number,
  place: (bytes: Buffer) => number,
): object {
  return {
    id: log.id,
    projectId: log.projectId,
    webhookId: log.webhookId,
    eventType: log.eventType ?? undefined,
    status: log.status,
    reason: log.reason ?? undefined,
    endpointIds: log.endpointIds,
    duplicateOf: log.duplicateOf ?? undefined,
    payloadSha256: log.payloadSha256,
    payloadBytes: log.payloadBytes,
    bodyIsKey: log.bodyIsKey,
    remoteAddr: log.remoteAddr,
    correlationId: log.correlationId,
    requestCount: log.requestCount,
    receivedAt,
    headers: payload?.headers,
    query: payload?.query,
    credentials: payload?.credentials,
    payloadStart: payload ? place(payload.payload) : undefined,
    payloadLength: payload?.payload.length,
    deliveries: ordering?.deliveries,
    acceptedAtUs: ordering?.acceptedAtUs,
    isEarly: ordering?.isEarly,
    place: outbox && index,
    outboxId: outbox?.id,
    exchange: outbox?.exchange,
    routingKey: outbox?.routingKey,
    messageStart: outbox && place(outbox.message),
    messageLength: outbox?.message.length,
  };
}

async function appendAttempts(
  pool: pg.Pool,
  rows: readonly Extract<AuditRow, { kind: 'attempt' }>[],
): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ attempt }) => attempt.id);
  const times = ids.map(timeOfId);
  const facts = storable(rows.map(({ attempt }, index) => factOfAttempt(attempt, times[index] as number)));
  const stale = staleBuckets(times, Date.now());
  const marks = stale ? `with ${markStale('$2')} ` : '';
  const { rowCount } = await insert(
    pool,
    (onConflict) => marks + insertAttempts(onConflict),
    stale ? [facts, stale] : [facts],
  );
  if (rowCount === rows.length) return noIds;
  // Some exist already: these rows were written before, or another worker made the same attempt.
  const there = await pool.query<{ id: string }>(
    'select id from delivery_attempts where id = any($1::uuid[]) and attempted_at between $2 and $3',
    [ids, new Date(Math.min(...times)), new Date(Math.max(...times))],
  );
  const written = new Set(there.rows.map((row) => row.id));
  return new Set(ids.filter((id) => !written.has(id)));
}

function factOfAttempt(attempt: DeliveryAttemptRow, attemptedAt: number): object {
  return {
    id: attempt.id,
    deliveryId: attempt.deliveryId,
    webhookLogId: attempt.webhookLogId,
    projectId: attempt.projectId,
    endpointId: attempt.endpointId,
    lane: attempt.lane,
    attemptNum: attempt.attemptNum,
    status: attempt.status,
    statusCode: attempt.statusCode ?? undefined,
    latencyMs: attempt.latencyMs,
    error: attempt.error ?? undefined,
    responseBody: attempt.responseBody ?? undefined,
    correlationId: attempt.correlationId,
    attemptedAt,
    nextAttemptAt: attempt.nextAttemptAt ?? undefined,
  };
}

/**
 * JSON that Postgres can store as text: it takes no NUL, nor half of a surrogate pair, which JSON.stringify writes as an
 * escape. Both become U+FFFD.
 */
function storable(fact: unknown): string {
  const json = JSON.stringify(fact);
  return json.includes('\\u')
    ? json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\ufffd')
    : json;
}
