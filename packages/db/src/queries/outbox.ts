import type pg from 'pg';
import { inTransaction } from '../in-transaction.ts';
import type { OutboxRow } from './append-audit.ts';

/** Of messages that are in memory at once; the last one may go over. */
const bytesMax = 16 << 20;

/**
 * Commits a message the broker did not take. A copy of one that waits already is one row with it; where that one is just
 * leaving, this waits until it has left: it may have been published and worked on, and come again.
 */
export async function insertOutbox(pool: pg.Pool, row: OutboxRow): Promise<void> {
  await pool.query(
    `insert into outbox (id, exchange, routing_key, message, created_at) values ($1, $2, $3, $4, now())
     on conflict (id) do update set message = excluded.message`,
    [row.id, row.exchange, row.routingKey, row.message],
  );
}

/**
 * Hands up to `limit` messages, and as many as memory may hold at once, to `publish` in the order they came and deletes
 * those it answers true for, in one transaction. One worker at a time, so that the order holds: a second one is answered 0 at once. Returns how many left.
 */
export async function drainOutbox(
  pool: pg.Pool,
  limit: number,
  publish: (row: OutboxRow) => Promise<boolean>,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const lock = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('hqrelay_outbox')) as taken",
    );
    if (!lock.rows[0]?.taken) return 0;
    const { rows } = await client.query<{
      id: string;
      exchange: string;
      routing_key: string;
      message: Buffer;
    }>(
      `with first as materialized (
         select seq, octet_length(message) as bytes from outbox order by seq limit $1
       ), fitting as materialized (
         select seq, sum(bytes) over (order by seq) - bytes as before from first
       )
       select id, exchange, routing_key, message from outbox
       where seq = any(array(select seq from fitting where before < $2)) order by seq for update`,
      [limit, bytesMax],
    );
    const outcomes = await Promise.all(
      rows.map((row) =>
        publish({ id: row.id, exchange: row.exchange, routingKey: row.routing_key, message: row.message }),
      ),
    );
    const left = rows.filter((_, index) => outcomes[index]).map((row) => row.id);
    if (left.length > 0) await client.query('delete from outbox where id = any($1::uuid[])', [left]);
    return left.length;
  });
}

/** How many messages wait in the outbox. */
export async function countOutbox(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from outbox');
  return rows[0]?.count ?? 0;
}
