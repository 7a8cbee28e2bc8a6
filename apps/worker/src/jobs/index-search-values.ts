import type { Postgres } from '@hqrelay/db/postgres';
import { indexSearchValues as indexBatch } from '@hqrelay/db/queries/search-values';

const batchesMax = 20;

/** Indexes the values of search keys that came since the last run. */
export async function indexSearchValues(deps: { postgres: Postgres }, stopping: AbortSignal): Promise<void> {
  if (!deps.postgres.health.isUp) return;
  for (let batches = 0; batches < batchesMax && !stopping.aborted; batches += 1) {
    if (!(await indexBatch(deps.postgres.pool))) return;
  }
}
