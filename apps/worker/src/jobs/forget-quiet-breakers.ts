import type { Postgres } from '@hqrelay/db/postgres';
import { dropQuietBreakers } from '@hqrelay/db/queries/endpoint-breakers';

/** Deletes closed breakers that did not change for an hour. Returns how many. */
export async function forgetQuietBreakers({ postgres }: { postgres: Postgres }): Promise<number> {
  return postgres.health.isUp ? dropQuietBreakers(postgres.pool) : 0;
}
