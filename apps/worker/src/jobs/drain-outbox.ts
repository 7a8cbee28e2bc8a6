import type { Postgres } from '@hqrelay/db/postgres';
import { drainOutbox as drain } from '@hqrelay/db/queries/outbox';
import type { Publisher } from '@hqrelay/queue/publisher';

export type DrainOutboxDeps = { postgres: Postgres; publisher: Publisher };

const batch = 500;

/**
 * Publishes what the broker could not take before, in the order it came, until the outbox is empty or `stopping` is
 * aborted. Returns how many.
 */
export async function drainOutbox(deps: DrainOutboxDeps, stopping?: AbortSignal): Promise<number> {
  let total = 0;
  while (!stopping?.aborted && deps.postgres.health.isUp && deps.publisher.health.isUp) {
    const left = await drain(deps.postgres.pool, batch, async ({ exchange, routingKey, message }) => {
      const result = await deps.publisher.publish({ exchange, routingKey, body: message });
      return result.kind === 'confirmed';
    });
    total += left;
    if (left === 0) break;
  }
  return total;
}
