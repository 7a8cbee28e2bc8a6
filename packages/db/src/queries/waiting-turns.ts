import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import { releaseFirst, type PublishHeld, type Releasable } from './held-deliveries.ts';

/** A value of an ordered endpoint's key. */
export type OrderingKey = { endpointId: string; key: string };

const first = (key: string) => `(select o.* from ordered_deliveries o
  where o.endpoint_id = ${key}.endpoint_id and o.ordering_key = ${key}.ordering_key and o.sequence is not null
  order by o.sequence limit 1)`;

/**
 * Releases the first delivery of each key where it is held behind one that has ended. A worker calls it after it has ended a
 * turn, and after it has held a delivery: of the two, the later one finds the other's commit. Returns how many were released.
 */
export async function releaseFirstOfKeys(
  pool: pg.Pool,
  keys: readonly OrderingKey[],
  publish: PublishHeld,
): Promise<number> {
  const { rows } = await pool.query<Releasable>(
    `select h.delivery_id, octet_length(h.message) as bytes
     from unnest($1::uuid[], $2::text[]) as k (endpoint_id, ordering_key)
     cross join lateral ${first('k')} as f
     join held_deliveries h on h.delivery_id = f.delivery_id and h.reason = 'order'`,
    [keys.map(({ endpointId }) => endpointId), keys.map(({ key }) => key)],
  );
  if (rows.length === 0) return 0;
  return inTransaction(pool, (client) => releaseFirst(client, rows, publish));
}

export type KeysPage = {
  keys: OrderingKey[];
  ended: { deliveryId: string; endpointId: string; key: string }[];
};

/**
 * The next `limit` keys with deliveries, after `after` in the order of the index, and their first deliveries that have ended
 * although their rows remain: a worker crashed before it ended the turn, or the end was no attempt. A dead letter has ended
 * where its endpoint continues after one, once a replay of it is delivered, or when its payload was erased.
 */
export async function readKeys(
  pool: pg.Pool,
  after: OrderingKey | undefined,
  limit: number,
): Promise<KeysPage> {
  const { rows } = await pool.query<{
    endpointId: string;
    key: string;
    deliveryId: string;
    isEnded: boolean;
  }>(readStatement, [after?.endpointId ?? '00000000-0000-0000-0000-000000000000', after?.key ?? '', limit]);
  return {
    keys: rows.map(({ endpointId, key }) => ({ endpointId, key })),
    ended: rows.filter(({ isEnded }) => isEnded),
  };
}

const nextKey = (
  endpointId: string,
  key: string,
) => `(select n.endpoint_id, n.ordering_key from ordered_deliveries n
  where n.sequence is not null and (n.endpoint_id, n.ordering_key) > (${endpointId}, ${key})
  order by n.endpoint_id, n.ordering_key limit 1)`;

const ofTheDelivery = `a.webhook_log_id = f.webhook_log_id and a.endpoint_id = f.endpoint_id
  and a.attempted_at >= hqrelay_time_of(f.webhook_log_id) - interval '1 day'`;

const readStatement = `
with recursive keys as (
  ${nextKey('$1::uuid', '$2::text')}
  union all
  select n.* from keys k cross join lateral ${nextKey('k.endpoint_id', 'k.ordering_key')} as n
), page as materialized (select * from keys limit $3)
select f.endpoint_id as "endpointId", f.ordering_key as key, f.delivery_id as "deliveryId", (
  exists (select from delivery_attempts a where ${ofTheDelivery} and a.delivery_id = f.delivery_id and a.status = 'delivered')
  or exists (select from delivery_decisions x where x.delivery_id = f.delivery_id and x.cancelled_at is not null
    and (f.claimed_until is null or f.claimed_until < now()))
  or ((exists (select from dead_letters l where l.id = f.delivery_id) or exists (
      select from delivery_attempts a where ${ofTheDelivery} and a.delivery_id = f.delivery_id and a.status = 'dead_lettered'))
    and (e.on_dead_letter = 'continue'
      or exists (select from dead_letters l where l.id = f.delivery_id and l.replayed_at is not null and l.replay_id is null)
      or exists (select from delivery_attempts a where ${ofTheDelivery} and a.status = 'delivered')))
) as "isEnded"
from page cross join lateral ${first('page')} as f join endpoints e on e.id = f.endpoint_id
order by 1, 2`;

/** How many keys have deliveries that wait for an earlier one, and when the oldest of their webhooks was received (ms since epoch). */
export async function measureOrder(pool: pg.Pool): Promise<{ keysHeld: number; oldestAt: number | null }> {
  const { rows } = await pool.query<{ keys: number; oldest: Date | null }>(
    `select count(*)::int as keys, min(oldest) as oldest from (
       select min(hqrelay_time_of(webhook_log_id)) as oldest from held_deliveries
       where reason = 'order' group by endpoint_id, ordering_key
     ) as key`,
  );
  const { keys, oldest } = rows[0]!;
  return { keysHeld: keys, oldestAt: oldest?.getTime() ?? null };
}
