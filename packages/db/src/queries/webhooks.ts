import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { webhookStatus } from '../schema/webhook-logs.ts';
import type { DeliveryAttemptRow } from './append-audit.ts';
import { readDeliveryOrders, type DeliveryOrder } from './delivery-order.ts';
import type { HoldReason } from './held-deliveries.ts';

/** The values of the enum `webhook_status`. */
export const webhookStatuses = webhookStatus.enumValues;

export type WebhookStatus = (typeof webhookStatuses)[number];

export type DeliveryState = 'waiting' | 'held' | 'delivered' | 'dead_lettered' | 'cancelled';

export type Webhook = {
  id: string;
  projectId: string;
  webhookId: string;
  eventType: string | null;
  status: WebhookStatus;
  reason: string | null;
  endpointIds: string[];
  duplicateOf: string | null;
  /** Hex; null when the body was never read to its end. */
  payloadSha256: string | null;
  payloadBytes: number;
  remoteAddr: string | null;
  correlationId: string;
  /** How many requests the row stands for. */
  requestCount: number;
  receivedAt: Date;
};

/** `deliveries`: how many of its deliveries are in which state. */
export type ListedWebhook = Webhook & { deliveries: Partial<Record<DeliveryState, number>> };

export type WebhookDetails = {
  webhook: Webhook & { projectName: string | null };
  /** Null when it was never stored, was dropped or erased. `body` is null when it is over `bodyBytesMax`. */
  payload: { headers: [string, string][]; query: string; bytes: number; body: Buffer | null } | null;
  deliveries: {
    deliveryId: string;
    endpointId: string;
    url: string | null;
    state: DeliveryState;
    attempts: number;
    lastStatusCode: number | null;
    lastError: string | null;
    nextAttemptAt: Date | null;
    deliveredAt: Date | null;
    heldReason: HoldReason | null;
    heldUntil: Date | null;
    /** Null while no dead letter of it is stored. */
    deadReason: string | null;
    /** When it was replayed. */
    replayedAt: Date | null;
    /** Null for an unordered delivery, and for one that has ended. */
    order: DeliveryOrder | null;
  }[];
  /** In the order they were made, replays too. */
  attempts: (Omit<DeliveryAttemptRow, 'webhookLogId' | 'projectId' | 'nextAttemptAt'> & {
    attemptedAt: Date;
    nextAttemptAt: Date | null;
  })[];
  /** In the order they were asked for; each is a delivery of its own. */
  replays: (Omit<WebhookDetails['deliveries'][number], 'order'> & {
    replayId: string;
    requestedBy: string;
    requestedAt: Date;
  })[];
};

const webhook = `w.id, w.project_id as "projectId", w.webhook_id as "webhookId", w.event_type as "eventType", w.status, w.reason,
  w.endpoint_ids as "endpointIds", w.duplicate_of as "duplicateOf", w.payload_sha256 as "payloadSha256",
  w.payload_bytes as "payloadBytes", w.remote_addr as "remoteAddr", w.correlation_id as "correlationId", w.request_count as "requestCount",
  w.received_at as "receivedAt"`;

const status = `s.delivery_id as "deliveryId", s.endpoint_id as "endpointId", e.url, s.state, s.attempts,
  s.last_status_code as "lastStatusCode", s.last_error as "lastError", s.next_attempt_at as "nextAttemptAt",
  s.delivered_at as "deliveredAt", s.held_reason as "heldReason", s.held_until as "heldUntil",
  s.dead_reason as "deadReason", s.replayed_at as "replayedAt"`;

/** The columns of a `ListedWebhook`. `w` is the row of `webhook_logs`. */
export const listedWebhookColumns = `${webhook}, (
   select coalesce(jsonb_object_agg(state, count), '{}') from (
     select state, count(*) from delivery_status where webhook_log_id = w.id and received_at = w.received_at group by state
   ) as states
 ) as deliveries`;

const attemptsMax = 1_000;
const replaysMax = 1_000;

/** A project's newest webhooks of the last `sinceMs`, the newest first, at most `limit`. */
export async function listWebhooks(
  pool: pg.Pool,
  filter: { projectId: string; status?: WebhookStatus | undefined; sinceMs: number; limit: number },
): Promise<ListedWebhook[]> {
  const { rows } = await pool.query<ListedWebhook>(
    `select ${listedWebhookColumns} from (
       select * from webhook_logs
       where project_id = $1 and received_at >= now() - make_interval(secs => $2) and ($3::webhook_status is null or status = $3)
       order by received_at desc, id desc limit $4
     ) as w
     order by w.received_at desc, w.id desc`,
    [filter.projectId, filter.sinceMs / 1_000, filter.status ?? null, filter.limit],
  );
  return rows;
}

/** One webhook by its id and the time inside it, ms since epoch; null when there is none. */
export async function readWebhook(
  pool: pg.Pool,
  { id, receivedAt }: { id: string; receivedAt: number },
): Promise<Webhook | null> {
  const { rows } = await pool.query<Webhook>(
    `select ${webhook} from webhook_logs w where w.id = $1 and w.received_at = $2`,
    [id, new Date(receivedAt)],
  );
  return rows[0] ?? null;
}

/** Those of these ids that are webhooks of the project. */
export async function readWebhookIdsOf(
  pool: pg.Pool,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select w.id from unnest($1::uuid[]) as asked (id)
     join webhook_logs w on w.id = asked.id and w.received_at = hqrelay_time_of(asked.id)::timestamptz(3)
     where w.project_id = $2`,
    [ids, projectId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Everything recorded of one webhook at one moment, by its id and the time inside it (ms since epoch), which names the
 * partition; a body of more than `bodyBytesMax` is left out. Null when there is no such webhook.
 */
export async function readWebhookDetails(
  pool: pg.Pool,
  { id, receivedAt, bodyBytesMax }: { id: string; receivedAt: number; bodyBytesMax: number },
): Promise<WebhookDetails | null> {
  const key: Key = [id, new Date(receivedAt)];
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read read only');
    return readDetails(client, key, bodyBytesMax);
  });
}

async function readDetails(
  client: pg.PoolClient,
  key: Key,
  bodyBytesMax: number,
): Promise<WebhookDetails | null> {
  const webhooks = await client.query<WebhookDetails['webhook']>(
    `select ${webhook}, (select name from projects where id = w.project_id) as "projectName"
     from webhook_logs w where w.id = $1 and w.received_at = $2`,
    key,
  );
  if (!webhooks.rows[0]) return null;
  return {
    webhook: webhooks.rows[0],
    payload: await readPayload(client, key, bodyBytesMax),
    deliveries: await readDeliveries(client, key),
    replays: await readReplays(client, key),
    attempts: await readAttempts(client, key),
  };
}

/** The id and the time inside it, which names the partition. */
type Key = [id: string, receivedAt: Date];

async function readPayload(
  client: pg.PoolClient,
  key: Key,
  bodyBytesMax: number,
): Promise<WebhookDetails['payload']> {
  const payloads = await client.query<NonNullable<WebhookDetails['payload']>>(
    `select headers, query, octet_length(payload) as bytes, case when octet_length(payload) <= $3 then payload end as body
     from webhook_payloads where id = $1 and received_at = $2`,
    [...key, bodyBytesMax],
  );
  return payloads.rows[0] ?? null;
}

async function readDeliveries(client: pg.PoolClient, key: Key): Promise<WebhookDetails['deliveries']> {
  const { rows } = await client.query<Omit<WebhookDetails['deliveries'][number], 'order'>>(
    `select ${status}
     from delivery_status s left join endpoints e on e.id = s.endpoint_id
     where s.webhook_log_id = $1 and s.received_at = $2 order by e.created_at, s.endpoint_id`,
    key,
  );
  const orders = await readDeliveryOrders(
    client,
    rows.map(({ deliveryId }) => deliveryId),
  );
  return rows.map((row) => ({ ...row, order: orders.get(row.deliveryId) ?? null }));
}

async function readAttempts(client: pg.PoolClient, key: Key): Promise<WebhookDetails['attempts']> {
  // From an hour before, as in the view, because the clocks of receivers and workers differ.
  const attempts = await client.query<WebhookDetails['attempts'][number]>(
    `select id, delivery_id as "deliveryId", endpoint_id as "endpointId", lane, attempt_num as "attemptNum", status,
       status_code as "statusCode", latency_ms as "latencyMs", error, response_body as "responseBody",
       correlation_id as "correlationId", attempted_at as "attemptedAt", next_attempt_at as "nextAttemptAt"
     from delivery_attempts where webhook_log_id = $1 and attempted_at >= $2::timestamptz - interval '1 hour'
     order by attempted_at, attempt_num limit ${attemptsMax}`,
    key,
  );
  return attempts.rows;
}

async function readReplays(client: pg.PoolClient, key: Key): Promise<WebhookDetails['replays']> {
  const replays = await client.query<WebhookDetails['replays'][number]>(
    `select ${status}, s.replay_id as "replayId", s.requested_by as "requestedBy", s.requested_at as "requestedAt"
     from replay_status s left join endpoints e on e.id = s.endpoint_id
     where s.webhook_log_id = $1 and s.requested_at >= $2::timestamptz - interval '1 hour'
     order by s.requested_at, s.replay_id limit ${replaysMax}`,
    key,
  );
  return replays.rows;
}

/**
 * The bytes of a webhook's payload, at most the first `bytesMax` where that is given, and the size of the whole payload.
 * Null when it was never stored, was dropped or erased.
 */
export async function readWebhookPayload(
  pool: pg.Pool,
  { id, receivedAt, bytesMax }: { id: string; receivedAt: number; bytesMax?: number | undefined },
): Promise<{ bytes: Buffer; payloadBytes: number } | null> {
  const { rows } = await pool.query<{ bytes: Buffer; payloadBytes: number }>(
    `select coalesce(substr(payload, 1, $3::int), payload) as bytes, octet_length(payload) as "payloadBytes"
     from webhook_payloads where id = $1 and received_at = $2`,
    [id, new Date(receivedAt), bytesMax ?? null],
  );
  return rows[0] ?? null;
}
