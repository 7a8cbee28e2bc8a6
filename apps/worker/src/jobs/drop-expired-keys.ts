import type { Postgres } from '@hqrelay/db/postgres';
import { dropExpiredKeys as drop } from '@hqrelay/db/queries/idempotency-keys';

const batch = 5_000;

/** Deletes idempotency keys in Postgres whose window is over. Returns how many. */
export async function dropExpiredKeys(deps: { postgres: Postgres }): Promise<number> {
  let total = 0;
  while (deps.postgres.health.isUp) {
    const dropped = await drop(deps.postgres.pool, batch);
    total += dropped;
    if (dropped < batch) break;
  }
  return total;
}
