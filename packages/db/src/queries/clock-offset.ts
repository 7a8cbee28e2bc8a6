import type pg from 'pg';

const offsetMaxMs = 1_000;

/** A sentence when Postgres's clock and ours differ by more than a second. Throws when Postgres does not answer. */
export async function clockWarning(pool: pg.Pool, now: () => number): Promise<string | undefined> {
  const askedAt = now();
  const { rows } = await pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const offsetMs = (rows[0]?.ms ?? 0) - (askedAt + now()) / 2;
  if (Math.abs(offsetMs) <= offsetMaxMs) return undefined;
  return `the clock of Postgres is ${Math.round(Math.abs(offsetMs))} ms ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine's: idempotency windows and due times will be off by that`;
}
