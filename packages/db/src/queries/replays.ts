import type { CredentialPlace } from '@hqrelay/domain/inbound/forwarded-credentials';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { inIndexOrder } from './held-deliveries.ts';

/** What a message of a webhook is made of. */
export type RecordedWebhook = {
  id: string;
  projectId: string;
  eventType: string | null;
  correlationId: string;
  headers: [string, string][];
  credentials: CredentialPlace[] | null;
  payload: Buffer;
};

export type Replay = {
  replayId: string;
  /** Its own: attempts of a replay count from 1. */
  deliveryId: string;
  webhookLogId: string;
  endpointId: string;
  /** ms since epoch. */
  dueAt: number;
};

export type ReplayOptions = {
  requestedBy: string;
  /** ms since epoch. */
  now: number;
  /** The message that a worker gets when the replay is due. */
  encode: (webhook: RecordedWebhook, replay: Replay) => Buffer;
};

/** A replay is a message for this queue that is held until it is due: whoever releases held deliveries publishes it. */
const replayQueue = 'hqrelay.replays';

/** The webhooks of these ids that are recorded with their payload. */
export async function readRecordedWebhooks(
  client: pg.Pool | pg.PoolClient,
  ids: readonly string[],
): Promise<Map<string, RecordedWebhook>> {
  const { rows } = await client.query<RecordedWebhook>(
    `select w.id, w.project_id as "projectId", w.event_type as "eventType", w.correlation_id as "correlationId",
       p.headers, p.credentials, p.payload
     from unnest($1::uuid[]) as asked (id)
     join webhook_logs w on w.id = asked.id and w.received_at = hqrelay_time_of(asked.id)::timestamptz(3)
     join webhook_payloads p on p.id = asked.id and p.received_at = hqrelay_time_of(asked.id)::timestamptz(3)`,
    [[...new Set(ids)]],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Replays of one webhook to these endpoints, due at once, all or none; what was dead of these deliveries is taken up again
 * by them. Throws when Postgres fails.
 */
export async function replayWebhook(
  pool: pg.Pool,
  webhook: RecordedWebhook,
  endpointIds: readonly string[],
  options: ReplayOptions,
): Promise<Replay[]> {
  return inTransaction(pool, async (client) => {
    const replays: Replay[] = [];
    for (const endpointId of endpointIds) {
      const replay = newReplay(webhook.id, endpointId, options.now, options.now);
      await insertReplays(client, [{ replay, message: options.encode(webhook, replay) }], options);
      await client.query(
        `update dead_letters set replay_id = $3, replayed_at = $4
         where endpoint_id = $1 and webhook_log_id = $2 and kind = 'delivery' and replayed_at is null`,
        [endpointId, webhook.id, replay.replayId, new Date(options.now)],
      );
      replays.push(replay);
    }
    return replays;
  });
}

export function newReplay(webhookLogId: string, endpointId: string, now: number, dueAt: number): Replay {
  const replayId = newId(now);
  return {
    replayId,
    deliveryId: deliveryId(webhookLogId, endpointId, replayId),
    webhookLogId,
    endpointId,
    dueAt,
  };
}

/** Their rows, and their messages held until they are due; in a transaction of the caller's. */
export async function insertReplays(
  client: pg.PoolClient,
  replays: readonly { replay: Replay; message: Buffer }[],
  { requestedBy, now }: ReplayOptions,
): Promise<void> {
  let start = 0;
  const facts = replays.map(({ replay, message }) => {
    const fact = { ...replay, dueAt: Math.round(replay.dueAt), start, length: message.length };
    start += message.length;
    return fact;
  });
  await client.query(
    `with fact as materialized (
       select * from json_to_recordset($1::json) as f("replayId" uuid, "deliveryId" uuid, "webhookLogId" uuid, "endpointId" uuid,
         "dueAt" bigint, start int, length int)
     ), replayed as (
       insert into replays (id, webhook_log_id, endpoint_id, requested_by, requested_at)
       select "replayId", "webhookLogId", "endpointId", $3, $4 from fact
     )
     insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
     select "deliveryId", "webhookLogId", "endpointId", 'delay', to_timestamp("dueAt" / 1000.0), $4, '${replayQueue}',
       substring($2::bytea from start + 1 for length)
     from fact`,
    [JSON.stringify(facts), Buffer.concat(replays.map(({ message }) => message)), requestedBy, new Date(now)],
  );
}

/**
 * When the last replay of these projects is due that nobody has let go yet; null when there is none. ms since epoch. A later
 * attempt of a replay that waits is none: that one was held after its replay was requested. Given in a transaction, whose
 * later queries prefer indexes too.
 */
export async function lastReplayDue(
  client: pg.PoolClient,
  projectIds: readonly string[],
): Promise<number | null> {
  await client.query(`select ${inIndexOrder}`);
  // From the last one due backwards, each looked up until one is a replay. As a join it would be made of all of them.
  const { rows } = await client.query<{ due_at: Date }>(
    `select h.due_at from held_deliveries h
     where h.reason = 'delay' and h.queue = '${replayQueue}'
       and h.endpoint_id = any(array(select id from endpoints where project_id = any($1::uuid[])))
       and (select true from replays r
         where r.webhook_log_id = h.webhook_log_id and r.endpoint_id = h.endpoint_id and r.requested_at = h.held_at limit 1)
     order by h.due_at desc limit 1`,
    [projectIds],
  );
  return rows[0]?.due_at.getTime() ?? null;
}
