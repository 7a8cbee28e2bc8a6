import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { OutboxRow } from './append-audit.ts';

/** Of messages that are in memory at once; the last one may exceed it. */
const bytesMax = 16 << 20;

/**
 * Commits a message that the broker did not take. A duplicate of a message in the outbox updates its row. While that row is
 * being drained, the statement waits until it is deleted: a worker may receive the drained message and spill it again.
 */
export async function insertOutbox(pool: pg.Pool, row: OutboxRow): Promise<void> {
  await pool.query(
    `insert into outbox (id, exchange, routing_key, message, created_at) values ($1, $2, $3, $4, now())
     on conflict (id) do update set message = $4`,
    [row.id, row.exchange, row.routingKey, row.message],
  );
}

/** Messages for one routing key may go to two queues, by their size. */
export type OutboxTarget = { exchange: string; routingKey: string; isLarge: boolean };

export type DrainOptions = {
  limit: number;
  /** A message of more bytes than this counts as large. */
  smallBytesMax: number;
  /** Messages for these targets stay. */
  except?: readonly OutboxTarget[];
};

/**
 * Passes up to `limit` messages, and as many as memory may hold at once, to `publish` in the order of their commits, and
 * deletes those for which it returns true, in one transaction. One worker drains at a time, so that the order holds: a second
 * worker gets no message. Returns how many were tried, and how many of these were published and deleted.
 */
export async function drainOutbox(
  pool: pg.Pool,
  options: DrainOptions,
  publish: (row: OutboxRow) => Promise<boolean>,
): Promise<{ tried: number; published: number }> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('hqrelay_outbox')) as taken",
    );
    if (!lock.rows[0]?.taken) return { tried: 0, published: 0 };
    const rows = await selectOldest(client, options);
    const outcomes = await Promise.all(rows.map((row) => publish(row)));
    const ids = rows.filter((_, index) => outcomes[index]).map((row) => row.id);
    if (ids.length > 0) await client.query('delete from outbox where id = any($1::uuid[])', [ids]);
    return { tried: rows.length, published: ids.length };
  });
}

async function selectOldest(
  client: pg.PoolClient,
  { limit, smallBytesMax, except = [] }: DrainOptions,
): Promise<OutboxRow[]> {
  const { rows } = await client.query<OutboxRow>(
    `with first as materialized (
       select seq, octet_length(message) as bytes from outbox
       where (exchange, routing_key, octet_length(message) > $3) not in (
         select * from unnest($4::text[], $5::text[], $6::boolean[])
       )
       order by seq limit $1
     ), fitting as materialized (
       select seq, sum(bytes) over (order by seq) - bytes as before from first
     )
     select id, exchange, routing_key as "routingKey", message from outbox
     where seq = any(array(select seq from fitting where before < $2)) order by seq for update`,
    [
      limit,
      bytesMax,
      smallBytesMax,
      except.map((target) => target.exchange),
      except.map((target) => target.routingKey),
      except.map((target) => target.isLarge),
    ],
  );
  return rows;
}

/** How many messages wait in the outbox. */
export async function countOutbox(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from outbox');
  return rows[0]?.count ?? 0;
}
