import type pg from 'pg';
import type { OutboxRow } from './append-audit.ts';

/** Commits messages the broker did not take. A copy of one that waits already changes nothing. */
export async function insertOutbox(pool: pg.Pool, row: OutboxRow): Promise<void> {
  await pool.query(
    `insert into outbox (id, exchange, routing_key, message, created_at) values ($1, $2, $3, $4, now())
     on conflict do nothing`,
    [row.id, row.exchange, row.routingKey, row.message],
  );
}

/**
 * Hands up to `limit` messages to `publish` in the order they came and deletes those it answers true for, in one
 * transaction. One worker at a time, so that the order holds: a second one is answered 0 at once. Returns how many left.
 */
export async function drainOutbox(
  pool: pg.Pool,
  limit: number,
  publish: (row: OutboxRow) => Promise<boolean>,
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const lock = await client.query<{ taken: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext('hqrelay_outbox')) as taken",
    );
    const { rows } = lock.rows[0]?.taken
      ? await client.query<{ id: string; exchange: string; routing_key: string; message: Buffer }>(
          'select id, exchange, routing_key, message from outbox order by seq limit $1',
          [limit],
        )
      : { rows: [] };
    const outcomes = await Promise.all(
      rows.map((row) =>
        publish({ id: row.id, exchange: row.exchange, routingKey: row.routing_key, message: row.message }),
      ),
    );
    const left = rows.filter((_, index) => outcomes[index]).map((row) => row.id);
    if (left.length > 0) await client.query('delete from outbox where id = any($1::uuid[])', [left]);
    await client.query('commit');
    client.release();
    return left.length;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** How many messages wait in the outbox. */
export async function countOutbox(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from outbox');
  return rows[0]?.count ?? 0;
}
