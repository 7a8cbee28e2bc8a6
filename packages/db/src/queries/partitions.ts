import type pg from 'pg';

/** Makes the partitions of the month that `at` (ms since epoch) lies in, where they are missing. Returns how many it made. */
export async function ensurePartition(pool: pg.Pool, at: number): Promise<number> {
  const { rows } = await pool.query<{ made: number }>('select hqrelay_ensure_partition($1) as made', [
    new Date(at),
  ]);
  return rows[0]?.made ?? 0;
}

/** How many of the next months have the partitions of every audit table, without a gap. */
export async function countPartitionsAhead(pool: pg.Pool, now: number): Promise<number> {
  const { rows } = await pool.query<{ month: string }>(
    `select right(c.relname, 7) as month from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('webhook_logs'::regclass, 'webhook_payloads'::regclass, 'delivery_attempts'::regclass, 'replays'::regclass,
       'webhook_search_values'::regclass)
     group by 1 having count(*) = 5`,
  );
  const complete = new Set(rows.map(({ month }) => month));
  const isComplete = (months: number) => {
    const month = new Date(now);
    month.setUTCMonth(month.getUTCMonth() + months, 1);
    return complete.has(month.toISOString().slice(0, 7).replace('-', '_'));
  };
  let ahead = 0;
  while (isComplete(ahead + 1)) ahead += 1;
  return ahead;
}

/** The job makePartitions makes one more, so that the beginning of a month causes no warning. */
export const partitionsAheadMin = 3;

/** A sentence when fewer of the next months have partitions than `partitionsAheadMin`. */
export function partitionsWarning(ahead: number): string | undefined {
  return ahead >= partitionsAheadMin
    ? undefined
    : `${ahead} of the next ${partitionsAheadMin} months have partitions: see whether the job makePartitions fails`;
}
