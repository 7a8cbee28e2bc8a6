import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';

export const holdReasons = ['delay', 'paused', 'disabled', 'order', 'breaker'] as const;
export type HoldReason = (typeof holdReasons)[number];

export type HeldDelivery = {
  deliveryId: string;
  webhookLogId: string;
  endpointId: string;
  /** The attempt it waits for. */
  attemptNum: number;
  orderingKey: string | null;
  reason: HoldReason;
  /** ms since epoch. */
  dueAt: number;
  queue: string;
  message: Buffer;
  /** Whether it replaces a row of the same attempt. A message with the mark to resume is never replaced by one without it. */
  replacesSameAttempt?: boolean;
};

/** Publishes a released delivery. True when the broker has confirmed it. */
export type PublishHeld = (held: { queue: string; message: Buffer }) => Promise<boolean>;

/**
 * Commits held deliveries, all or none. A delivery has one row, that of its latest attempt: a duplicate of an earlier attempt
 * does not replace it. Where a release of the delivery is about to delete its row, this waits for the commit and inserts it anew.
 */
export async function holdDeliveries(
  pool: pg.Pool,
  held: readonly HeldDelivery[],
  now: number,
): Promise<void> {
  // One statement cannot write a row twice.
  const latest = new Map<string, HeldDelivery>();
  for (const each of held) {
    const other = latest.get(each.deliveryId);
    if (!other || replaces(each, other)) latest.set(each.deliveryId, each);
  }
  // Two workers that lock rows in the same order never deadlock.
  const once = [...latest.values()].toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  let start = 0;
  const facts = once.map(({ message, ...each }) => {
    const fact = { ...each, dueAt: Math.round(each.dueAt), start, length: message.length };
    start += message.length;
    return fact;
  });
  await pool.query(
    `with fact as materialized (
       select * from json_to_recordset($1::json) as h("deliveryId" uuid, "webhookLogId" uuid, "endpointId" uuid, "attemptNum" int,
         "orderingKey" text, reason hold_reason, "dueAt" bigint, queue text, start int, length int, "replacesSameAttempt" boolean)
     )
     insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, attempt_num, ordering_key, reason, due_at, held_at, queue, message)
     select "deliveryId", "webhookLogId", "endpointId", "attemptNum", "orderingKey", reason, to_timestamp("dueAt" / 1000.0), $3, queue,
       substring($2::bytea from start + 1 for length)
     from fact
     on conflict (delivery_id) do update set attempt_num = excluded.attempt_num, ordering_key = excluded.ordering_key, reason = excluded.reason,
       due_at = excluded.due_at, held_at = excluded.held_at, queue = excluded.queue, message = excluded.message
     where excluded.attempt_num > held_deliveries.attempt_num or (excluded.attempt_num = held_deliveries.attempt_num
       and (select "replacesSameAttempt" from fact where "deliveryId" = excluded.delivery_id))`,
    [JSON.stringify(facts), Buffer.concat(once.map(({ message }) => message)), new Date(now)],
  );
}

function replaces(held: HeldDelivery, other: HeldDelivery): boolean {
  if (held.attemptNum !== other.attemptNum) return held.attemptNum > other.attemptNum;
  return held.replacesSameAttempt ?? false;
}

/** A held delivery that may be released, and the bytes of its message. */
export type Releasable = { delivery_id: string; bytes: number };

/**
 * Makes Postgres read the first rows of an order from the index, for the rest of a transaction. Where the table grew faster
 * than its statistics, the planner would sort all of it: a quarter of a second for 200,000 rows.
 */
export const inIndexOrder = `set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`;

/** Of messages that are in memory at once. */
const bytesMax = 16 << 20;

/**
 * Publishes up to `limit` deliveries that are due, the longest due first, and deletes those that the broker confirmed, all in
 * one transaction: after a crash in between a delivery is published again, never lost. Several workers take different rows.
 * Returns how many were deleted.
 */
export async function releaseDue(
  pool: pg.Pool,
  options: { now: number; limit: number },
  publish: PublishHeld,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query(`select ${inIndexOrder}`);
    const { rows } = await client.query<Releasable>(
      `select delivery_id, octet_length(message) as bytes from held_deliveries where reason = 'delay' and due_at <= $1
       order by due_at limit $2 for update skip locked`,
      [new Date(options.now), options.limit],
    );
    return releaseFirst(client, rows, publish);
  });
}

/**
 * Publishes the first of them, as many as memory may hold at once, and deletes those that the broker confirmed. It skips locked
 * rows, because another worker that holds deliveries may wait for its rows. Returns how many.
 */
export async function releaseFirst(
  client: pg.PoolClient,
  releasable: readonly Releasable[],
  publish: PublishHeld,
): Promise<number> {
  if (releasable.length === 0) return 0;
  let bytes = 0;
  const fitting = releasable.filter((each, index) => (bytes += each.bytes) <= bytesMax || index === 0);
  const { rows } = await client.query<{ delivery_id: string; queue: string; message: Buffer }>(
    `select h.delivery_id, h.queue, h.message from unnest($1::uuid[]) with ordinality as f (delivery_id, place)
     join held_deliveries h using (delivery_id) order by place for update of h skip locked`,
    [fitting.map((each) => each.delivery_id)],
  );
  const outcomes = await Promise.all(rows.map((row) => publish({ queue: row.queue, message: row.message })));
  const released = rows.filter((_, index) => outcomes[index]).map((row) => row.delivery_id);
  await client.query('delete from held_deliveries where delivery_id = any($1::uuid[])', [released]);
  return released.length;
}

/** How many deliveries are held, by reason. */
export async function countHeld(pool: pg.Pool): Promise<Map<HoldReason, number>> {
  return inTransaction(pool, async (client) => {
    // A metric is not urgent: parallel workers would take CPU from deliveries.
    await client.query("select set_config('max_parallel_workers_per_gather', '0', true)");
    const { rows } = await client.query<{ reason: HoldReason; count: number }>(
      'select reason, count(*)::int as count from held_deliveries group by reason',
    );
    return new Map(rows.map((row) => [row.reason, row.count]));
  });
}
