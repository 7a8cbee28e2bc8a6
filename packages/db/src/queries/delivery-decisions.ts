import type pg from 'pg';
import type { DeliveryPlace } from './deliveries.ts';

/** For so long workers ask Postgres before first attempts: one waits in a work queue until workers run and have made those before it. */
const firstCheckedMs = 24 * 3_600_000;

/** For so long after a decision the broker may have a message of the delivery: its longest delay, and time in a work queue. */
const inBrokerMs = 70 * 60_000;

export type Cancelled = {
  now: number;
  isDead: boolean;
  /** Whether the broker has the message of the first attempt, before which workers do not ask Postgres otherwise. */
  isFirstAttempt: boolean;
};

/** Cancels a delivery: it is held no longer, and its dead letter is closed. No worker posts a message that the broker has. */
export async function cancelDelivery(
  client: pg.PoolClient,
  place: DeliveryPlace,
  { now, isDead, isFirstAttempt }: Cancelled,
): Promise<void> {
  // Waits for a release of the delivery, after which the broker has its message.
  const held = await client.query('delete from held_deliveries where delivery_id = $1', [place.deliveryId]);
  const isInBroker = !isDead && held.rowCount === 0;
  if (isFirstAttempt) {
    await client.query('update projects set first_attempts_checked_until = $2 where id = $1', [
      place.projectId,
      new Date(now + firstCheckedMs),
    ]);
  }
  await client.query(
    `insert into delivery_decisions as x (delivery_id, webhook_log_id, endpoint_id, project_id, cancelled_at, in_broker_until)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (delivery_id) do update set cancelled_at = excluded.cancelled_at,
       in_broker_until = greatest(x.in_broker_until, excluded.in_broker_until)`,
    [...valuesOf(place), new Date(now), isInBroker ? new Date(now + inBrokerMs) : null],
  );
  await client.query('update dead_letters set replayed_at = $2 where id = $1 and replayed_at is null', [
    place.deliveryId,
    new Date(now),
  ]);
}

export type HeldMessage = { attemptNum: number; message: Buffer };

/** The message of a held delivery, locked; undefined when none is held. */
export async function lockHeldMessage(
  client: pg.PoolClient,
  deliveryId: string,
): Promise<HeldMessage | undefined> {
  const { rows } = await client.query<HeldMessage>(
    'select attempt_num as "attemptNum", message from held_deliveries where delivery_id = $1 for update',
    [deliveryId],
  );
  return rows[0];
}

export type RetryNow = {
  attemptNum: number;
  queue: 'hqrelay.retries' | 'hqrelay.replays';
  /** Its `notBefore` is `now`. */
  message: Buffer;
  now: number;
  /** Whether a worker acknowledges the other messages of the attempt without a request. */
  replacesOthers: boolean;
};

/** Makes the locked message of a held delivery due. */
export async function releaseHeldMessage(
  client: pg.PoolClient,
  place: DeliveryPlace,
  retry: Pick<RetryNow, 'attemptNum' | 'message' | 'now'>,
): Promise<void> {
  await client.query(
    `update held_deliveries set reason = 'delay', due_at = $2, message = $3 where delivery_id = $1`,
    [place.deliveryId, new Date(retry.now), retry.message],
  );
  await insertRetryNow(client, place, retry, null);
}

/**
 * Holds another message of a delivery whose message the broker has. It is due at once. False when a worker has held the
 * delivery meanwhile: then that message is the one to release.
 */
export async function insertHeldMessage(
  client: pg.PoolClient,
  place: DeliveryPlace,
  retry: RetryNow,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, attempt_num, reason, due_at, held_at, queue, message)
     values ($1, $2, $3, $4, 'delay', $5, $5, $6, $7)
     on conflict (delivery_id) do update set attempt_num = excluded.attempt_num, reason = excluded.reason, due_at = excluded.due_at,
       held_at = excluded.held_at, queue = excluded.queue, message = excluded.message
     where held_deliveries.attempt_num < excluded.attempt_num`,
    [
      place.deliveryId,
      place.webhookLogId,
      place.endpointId,
      retry.attemptNum,
      new Date(retry.now),
      retry.queue,
      retry.message,
    ],
  );
  if (rowCount === 0) return false;
  if (retry.replacesOthers) await insertRetryNow(client, place, retry, new Date(retry.now + inBrokerMs));
  return true;
}

async function insertRetryNow(
  client: pg.PoolClient,
  place: DeliveryPlace,
  { attemptNum, now }: Pick<RetryNow, 'attemptNum' | 'now'>,
  inBrokerUntil: Date | null,
): Promise<void> {
  await client.query(
    `insert into delivery_decisions as x (delivery_id, webhook_log_id, endpoint_id, project_id, retry_attempt_num, retry_at, in_broker_until)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (delivery_id) do update set retry_attempt_num = excluded.retry_attempt_num, retry_at = excluded.retry_at,
       in_broker_until = greatest(x.in_broker_until, excluded.in_broker_until)`,
    [...valuesOf(place), attemptNum, new Date(now), inBrokerUntil],
  );
}

function valuesOf({ deliveryId, webhookLogId, endpointId, projectId }: DeliveryPlace): string[] {
  return [deliveryId, webhookLogId, endpointId, projectId];
}
