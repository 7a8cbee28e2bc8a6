import type { CredentialPlace } from '@hqrelay/domain/inbound/forwarded-credentials';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import type { Queryable } from '../queryable.ts';

/** The recorded parts of a webhook from which its message is encoded. */
export type RecordedWebhook = {
  id: string;
  projectId: string;
  eventType: string | null;
  correlationId: string;
  /** The endpoints that it owes. */
  endpointIds: string[];
  headers: [string, string][];
  credentials: CredentialPlace[] | null;
  /** Of its ordered deliveries that have not ended; null when there is none. */
  orderingKeys: Record<string, string> | null;
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

/** Encodes the message that a worker gets when a replay is due. */
export type EncodeReplay = (webhook: RecordedWebhook, replay: Replay) => Buffer;

/** A replay is a message for this queue, held until it is due: the job that releases held deliveries publishes it. */
const replayQueue = 'hqrelay.replays';

/** The webhooks of these ids that are recorded with their payload, by id. */
export async function readRecordedWebhooks(
  client: Queryable,
  ids: readonly string[],
): Promise<Map<string, RecordedWebhook>> {
  const { rows } = await client.query<RecordedWebhook>(
    `select w.id, w.project_id as "projectId", w.event_type as "eventType", w.correlation_id as "correlationId",
       w.endpoint_ids as "endpointIds", p.headers, p.credentials, p.payload, (
         select jsonb_object_agg(o.endpoint_id, o.ordering_key) from unnest(w.endpoint_ids) as owed (endpoint_id)
         join ordered_deliveries o on o.delivery_id = hqrelay_delivery_id(w.id, owed.endpoint_id)
       ) as "orderingKeys"
     from unnest($1::uuid[]) as asked (id)
     join webhook_logs w on w.id = asked.id and w.received_at = hqrelay_time_of(asked.id)::timestamptz(3)
     join webhook_payloads p on p.id = asked.id and p.received_at = hqrelay_time_of(asked.id)::timestamptz(3)`,
    [[...new Set(ids)]],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** A replay with ids of its own. */
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

/** Inserts the rows of replays, and their messages, held until they are due. */
export async function insertReplays(
  client: pg.PoolClient,
  replays: readonly { replay: Replay; message: Buffer }[],
  { requestedBy, jobId = null, now }: { requestedBy: string; jobId?: string | null; now: number },
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
       insert into replays (id, webhook_log_id, endpoint_id, requested_by, job_id, requested_at)
       select "replayId", "webhookLogId", "endpointId", $3, $4::uuid, $5::timestamptz from fact
     )
     insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
     select "deliveryId", "webhookLogId", "endpointId", 'delay', to_timestamp("dueAt" / 1000.0), $5, '${replayQueue}',
       substring($2::bytea from start + 1 for length)
     from fact`,
    [
      JSON.stringify(facts),
      Buffer.concat(replays.map(({ message }) => message)),
      requestedBy,
      jobId,
      new Date(now),
    ],
  );
}

/** Marks every open dead letter of the replayed webhooks and endpoints as replayed. */
export async function markDeadLettersReplayed(
  client: pg.PoolClient,
  replays: readonly Replay[],
  now: number,
): Promise<void> {
  await client.query(
    `update dead_letters d set replay_id = r.replay_id, replayed_at = $4
     from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as r (webhook_log_id, endpoint_id, replay_id)
     where d.webhook_log_id = r.webhook_log_id and d.endpoint_id = r.endpoint_id and d.kind = 'delivery' and d.replayed_at is null`,
    [
      replays.map(({ webhookLogId }) => webhookLogId),
      replays.map(({ endpointId }) => endpointId),
      replays.map(({ replayId }) => replayId),
      new Date(now),
    ],
  );
}
