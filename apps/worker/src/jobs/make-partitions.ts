import type { Postgres } from '@hqrelay/db/postgres';
import { ensurePartition, partitionsAheadMin } from '@hqrelay/db/queries/partitions';

const monthsAhead = partitionsAheadMin + 1;

/** Makes the partitions of this month and of the next four where they are missing. Returns how many it made. */
export async function makePartitions(deps: { postgres: Postgres; now: () => number }): Promise<number> {
  if (!deps.postgres.health.isUp) return 0;
  let made = 0;
  for (let months = 0; months <= monthsAhead; months += 1) {
    const month = new Date(deps.now());
    month.setUTCMonth(month.getUTCMonth() + months, 1);
    made += await ensurePartition(deps.postgres.pool, month.getTime());
  }
  return made;
}
