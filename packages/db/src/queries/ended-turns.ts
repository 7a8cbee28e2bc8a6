import type pg from 'pg';
import type { OrderingKey } from './waiting-turns.ts';

/**
 * Takes a cancelled delivery out of its key, and makes the next one due where it is held behind it. While an attempt of the
 * cancelled delivery may be in flight, nothing changes: a worker ends the turn after it.
 */
export async function endCancelledTurn(
  pool: pg.Pool,
  { deliveryId, now }: { deliveryId: string; now: number },
): Promise<void> {
  const { rows } = await pool.query<OrderingKey>(
    `delete from ordered_deliveries o where o.delivery_id = $1 and (o.claimed_until is null or o.claimed_until < now()
       or ${hasAttempt('a.attempt_num >= o.claimed_attempt')})
     returning o.endpoint_id as "endpointId", o.ordering_key as key`,
    [deliveryId],
  );
  for (const { endpointId, key } of rows) {
    await pool.query(
      `update held_deliveries set reason = 'delay', due_at = $3 where reason = 'order' and delivery_id = (
         select delivery_id from ordered_deliveries where endpoint_id = $1 and ordering_key = $2 and sequence is not null
         order by sequence limit 1)`,
      [endpointId, key, new Date(now)],
    );
  }
}

/**
 * Takes a delivery out of its key when a replay of it is delivered, if it is a dead letter. Returns its key; undefined where it
 * still waits, or has no turn.
 */
export async function endReplayedTurn(pool: pg.Pool, deliveryId: string): Promise<OrderingKey | undefined> {
  const { rows } = await pool.query<OrderingKey>(
    `delete from ordered_deliveries o where o.delivery_id = $1
       and (exists (select from dead_letters l where l.id = o.delivery_id) or ${hasAttempt("a.status = 'dead_lettered'")})
     returning o.endpoint_id as "endpointId", o.ordering_key as key`,
    [deliveryId],
  );
  return rows[0];
}

function hasAttempt(condition: string): string {
  return `exists (select from delivery_attempts a where a.webhook_log_id = o.webhook_log_id and a.delivery_id = o.delivery_id
    and a.attempted_at >= hqrelay_time_of(o.webhook_log_id) - interval '1 day' and ${condition})`;
}
