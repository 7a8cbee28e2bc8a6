import { timeOfId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import type { Queryable } from '../queryable.ts';
import type { HoldReason } from './held-deliveries.ts';
import type { DeliveryState } from './webhooks.ts';

/** Where a delivery belongs. */
export type DeliveryPlace = {
  deliveryId: string;
  webhookLogId: string;
  endpointId: string;
  projectId: string;
};

export type Delivery = DeliveryPlace & {
  /** Null unless it is a replay. */
  replayId: string | null;
  state: DeliveryState;
  attempts: number;
  nextAttemptAt: Date | null;
  heldReason: HoldReason | null;
};

/** The newest webhooks among which a delivery is looked for that is neither held nor dead, and never failed. */
const newestMax = 2_000;

/**
 * Finds a delivery by its id, which is a hash: one that is held, dead, cancelled or failed, or is of the newest webhooks.
 * Undefined for every other.
 */
export async function findDelivery(
  client: Queryable,
  deliveryId: string,
): Promise<DeliveryPlace | undefined> {
  return (await findKnown(client, deliveryId)) ?? (await findAmongNewest(client, deliveryId));
}

async function findKnown(client: Queryable, deliveryId: string): Promise<DeliveryPlace | undefined> {
  const { rows } = await client.query<DeliveryPlace>(
    `select $1::uuid as "deliveryId", d.webhook_log_id as "webhookLogId", e.id as "endpointId", e.project_id as "projectId" from (
       select webhook_log_id, endpoint_id from held_deliveries where delivery_id = $1
       union all select webhook_log_id, endpoint_id from delivery_decisions where delivery_id = $1
       union all select webhook_log_id, endpoint_id from dead_letters where id = $1 and kind = 'delivery'
       union all (select webhook_log_id, endpoint_id from delivery_attempts where delivery_id = $1 and status = 'failed' limit 1)
     ) as d join endpoints e on e.id = d.endpoint_id limit 1`,
    [deliveryId],
  );
  return rows[0];
}

async function findAmongNewest(client: Queryable, deliveryId: string): Promise<DeliveryPlace | undefined> {
  const { rows } = await client.query<DeliveryPlace>(
    `select $1::uuid as "deliveryId", w.id as "webhookLogId", owed.id as "endpointId", w.project_id as "projectId"
     from (select id, project_id, endpoint_ids from webhook_logs order by id desc limit ${newestMax}) as w
     cross join lateral unnest(w.endpoint_ids) as owed (id)
     where hqrelay_delivery_id(w.id, owed.id) = $1 limit 1`,
    [deliveryId],
  );
  return rows[0];
}

/** A delivery as it is now; undefined while the row of its webhook is not recorded. */
export async function readDelivery(
  client: Queryable,
  { deliveryId, webhookLogId }: Pick<DeliveryPlace, 'deliveryId' | 'webhookLogId'>,
): Promise<Delivery | undefined> {
  const columns = `s.delivery_id as "deliveryId", s.webhook_log_id as "webhookLogId", s.endpoint_id as "endpointId",
    w.project_id as "projectId", s.state, s.attempts, s.next_attempt_at as "nextAttemptAt", s.held_reason as "heldReason"`;
  const { rows } = await client.query<Delivery>(
    `with w as materialized (select id, project_id, received_at from webhook_logs where id = $1 and received_at = $2)
     select ${columns}, null::uuid as "replayId" from w
     join delivery_status s on s.webhook_log_id = $1 and s.received_at = $2 and s.delivery_id = $3
     union all
     select ${columns}, s.replay_id from w
     join replay_status s on s.webhook_log_id = $1 and s.requested_at >= $2::timestamptz - interval '1 hour' and s.delivery_id = $3`,
    [webhookLogId, new Date(timeOfId(webhookLogId)), deliveryId],
  );
  return rows[0];
}

/** Keeps other decisions about a delivery waiting until the transaction ends. */
export async function lockDelivery(client: pg.PoolClient, deliveryId: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('hqrelay_delivery ' || $1, 0))", [
    deliveryId,
  ]);
}
