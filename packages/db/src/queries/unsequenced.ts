import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { OrderingKey } from './waiting-turns.ts';

/** A key with deliveries without a sequence, and the project of its endpoint. */
export type UnsequencedKey = OrderingKey & { projectId: string };

/** Whether any key has deliveries without a sequence. */
export async function hasUnsequenced(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query('select from ordering_keys where has_unsequenced limit 1');
  return rows.length > 0;
}

export type SequenceOptions = { keysMax: number; deliveriesPerKeyMax: number };

/**
 * Gives deliveries their sequences, in the order in which they were accepted. Call it when every webhook that was accepted before
 * them is in Postgres. The keys are locked before the deliveries are read: a receiver that adds one to a key meanwhile waits, or
 * has committed it. Returns the keys.
 */
export async function sequenceKeys(
  pool: pg.Pool,
  { keysMax, deliveriesPerKeyMax }: SequenceOptions,
): Promise<UnsequencedKey[]> {
  return inTransaction(pool, async (client) => {
    const locked = await client.query<{ endpointId: string; key: string }>(
      `select endpoint_id as "endpointId", ordering_key as key from ordering_keys where has_unsequenced
       order by endpoint_id, ordering_key limit $1 for update skip locked`,
      [keysMax],
    );
    if (locked.rows.length === 0) return [];
    const { rows } = await client.query<UnsequencedKey>(sequenceStatement, [
      locked.rows.map(({ endpointId }) => endpointId),
      locked.rows.map(({ key }) => key),
      deliveriesPerKeyMax,
    ]);
    return rows;
  });
}

const sequenceStatement = `
with key as materialized (
  select k.endpoint_id, k.ordering_key, k.last_sequence
  from unnest($1::uuid[], $2::text[]) as l (endpoint_id, ordering_key) join ordering_keys k using (endpoint_id, ordering_key)
), next as materialized (
  select o.delivery_id, key.endpoint_id, key.ordering_key, key.last_sequence + row_number() over (
    partition by key.endpoint_id, key.ordering_key order by o.accepted_at_us, o.delivery_id) as sequence
  from key cross join lateral (
    select d.delivery_id, d.accepted_at_us from ordered_deliveries d
    where d.endpoint_id = key.endpoint_id and d.ordering_key = key.ordering_key and d.sequence is null
    order by d.accepted_at_us, d.delivery_id limit $3 + 1
  ) as o
), taken as materialized (
  select next.* from next join key using (endpoint_id, ordering_key) where next.sequence <= key.last_sequence + $3
), sequenced as (
  update ordered_deliveries o set sequence = taken.sequence from taken where o.delivery_id = taken.delivery_id
), counted as (
  update ordering_keys k set
    last_sequence = key.last_sequence + (
      select count(*) from taken t where t.endpoint_id = key.endpoint_id and t.ordering_key = key.ordering_key),
    has_unsequenced = exists (
      select from next n where n.endpoint_id = key.endpoint_id and n.ordering_key = key.ordering_key
        and n.sequence > key.last_sequence + $3)
  from key where k.endpoint_id = key.endpoint_id and k.ordering_key = key.ordering_key
)
select key.endpoint_id as "endpointId", key.ordering_key as key, e.project_id as "projectId"
from key join endpoints e on e.id = key.endpoint_id`;
