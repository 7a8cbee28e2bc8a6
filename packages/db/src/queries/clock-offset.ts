import type pg from 'pg';

/** By how much this machine's clock is ahead of Postgres', and the most that the round trip can make that wrong. */
export type ClockOffset = { offsetMs: number; errorMs: number };

const offsetMaxMs = 1_000;

/** Rejects when Postgres does not answer. */
export async function measureClockOffset(pool: pg.Pool, now: () => number): Promise<ClockOffset> {
  const askedAt = now();
  const { rows } = await pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const answeredAt = now();
  return {
    offsetMs: (askedAt + answeredAt) / 2 - (rows[0]?.ms ?? 0),
    errorMs: (answeredAt - askedAt) / 2,
  };
}

/** A sentence when the clocks differ by more than a second for certain. */
export function clockWarning({ offsetMs, errorMs }: ClockOffset): string | undefined {
  const differenceMs = Math.round(Math.abs(offsetMs));
  if (differenceMs - errorMs <= offsetMaxMs) return undefined;
  return `this machine's clock is ${differenceMs} ms ${offsetMs > 0 ? 'ahead of' : 'behind'} Postgres': due times and signature timestamps are off by that`;
}
