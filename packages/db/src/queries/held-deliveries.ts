import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';

export type HoldReason = 'delay' | 'paused' | 'disabled' | 'order' | 'breaker';

export type HeldDelivery = {
  deliveryId: string;
  webhookLogId: string;
  endpointId: string;
  orderingKey: string | null;
  reason: HoldReason;
  /** ms since epoch. */
  dueAt: number;
  queue: string;
  message: Buffer;
};

/**
 * Commits a delivery that waits; a redelivered message holds it once. The last wait counts, and where the delivery's release
 * from the one before is being committed just now, this waits for that: else both would be gone.
 */
export async function holdDelivery(pool: pg.Pool, held: HeldDelivery, now: number): Promise<void> {
  await pool.query(
    `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, reason, due_at, held_at, queue, message)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (delivery_id) do update set ordering_key = excluded.ordering_key, reason = excluded.reason,
       due_at = excluded.due_at, held_at = excluded.held_at, queue = excluded.queue, message = excluded.message`,
    [
      held.deliveryId,
      held.webhookLogId,
      held.endpointId,
      held.orderingKey,
      held.reason,
      new Date(held.dueAt),
      new Date(now),
      held.queue,
      held.message,
    ],
  );
}

/**
 * Takes up to `limit` deliveries that wait for nothing any more (their time has come, or their endpoint is enabled and no
 * longer paused), oldest first, hands them to `publish` and deletes those it answers true for, all in one transaction: a
 * crash between gives the same delivery again, never none. Several workers take different rows. Returns how many.
 */
export async function releaseHeld(
  pool: pg.Pool,
  options: { now: number; limit: number },
  publish: (held: { deliveryId: string; queue: string; message: Buffer }) => Promise<boolean>,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ delivery_id: string; queue: string; message: Buffer }>(
      `select h.delivery_id, h.queue, h.message
       from held_deliveries h left join endpoints e on e.id = h.endpoint_id
       where (h.reason = 'delay' and h.due_at <= $1)
         or (h.reason in ('paused', 'disabled') and e.enabled and not e.paused)
       order by h.due_at limit $2 for update of h skip locked`,
      [new Date(options.now), options.limit],
    );
    const outcomes = await Promise.all(
      rows.map((row) => publish({ deliveryId: row.delivery_id, queue: row.queue, message: row.message })),
    );
    const released = rows.filter((_, index) => outcomes[index]).map((row) => row.delivery_id);
    if (released.length > 0) {
      await client.query('delete from held_deliveries where delivery_id = any($1::uuid[])', [released]);
    }
    return released.length;
  });
}

/** How many deliveries are held, by reason. */
export async function countHeld(pool: pg.Pool): Promise<Map<HoldReason, number>> {
  const { rows } = await pool.query<{ reason: HoldReason; count: number }>(
    'select reason, count(*)::int as count from held_deliveries group by reason',
  );
  return new Map(rows.map((row) => [row.reason, row.count]));
}
