import type pg from 'pg';

/** Makes the partitions of the month that `at` (ms since epoch) lies in, where they are missing. Returns how many it made. */
export async function ensurePartition(pool: pg.Pool, at: number): Promise<number> {
  const { rows } = await pool.query<{ made: number }>('select hqrelay_ensure_partition($1) as made', [
    new Date(at),
  ]);
  return rows[0]?.made ?? 0;
}
