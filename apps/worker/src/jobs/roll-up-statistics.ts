import type { Postgres } from '@hqrelay/db/postgres';
import { rollUpStatistics as rollUpOne } from '@hqrelay/db/queries/roll-up-statistics';

const bucketsMax = 50;

/** Counts the buckets of the statistics that are due, one transaction each. Returns how many. */
export async function rollUpStatistics(deps: { postgres: Postgres }, stopping: AbortSignal): Promise<number> {
  if (!deps.postgres.health.isUp) return 0;
  let count = 0;
  while (count < bucketsMax && !stopping.aborted && (await rollUpOne(deps.postgres.pool))) count += 1;
  return count;
}
