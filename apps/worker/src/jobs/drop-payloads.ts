import type { Postgres } from '@hqrelay/db/postgres';
import { dropPayloads } from '@hqrelay/db/queries/drop-payloads';

export type DropPayloadsDeps = {
  postgres: Postgres;
  /** Undefined: payloads are never deleted. */
  payloadRetentionDays: number | undefined;
  now: () => number;
};

const dayMs = 86_400_000;
const everyMs = 3_600_000;

/** Deletes payloads older than the retention, once Postgres is up and then hourly. Each run returns how many. */
export function createDropPayloads(deps: DropPayloadsDeps): (stopping?: AbortSignal) => Promise<number> {
  const { postgres, payloadRetentionDays, now } = deps;
  let dueAt = 0;
  return async (stopping) => {
    if (payloadRetentionDays === undefined || !postgres.health.isUp || now() < dueAt) return 0;
    const count = await dropPayloads(postgres.pool, now() - payloadRetentionDays * dayMs, stopping);
    dueAt = now() + everyMs;
    return count;
  };
}
