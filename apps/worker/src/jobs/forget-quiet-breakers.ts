import type { Postgres } from '@hqrelay/db/postgres';
import { dropQuietBreakers } from '@hqrelay/db/queries/endpoint-breakers';

/** Forgets endpoints that failed once and were not heard of since. Returns how many. */
export async function forgetQuietBreakers({ postgres }: { postgres: Postgres }): Promise<number> {
  return postgres.health.isUp ? dropQuietBreakers(postgres.pool) : 0;
}
