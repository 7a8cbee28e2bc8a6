import type { Postgres } from '@hqrelay/db/postgres';
import { releaseHeld as release } from '@hqrelay/db/queries/held-deliveries';
import type { Publisher } from '@hqrelay/queue/publisher';
import { workExchange } from '@hqrelay/queue/topology';

export type ReleaseHeldDeps = { postgres: Postgres; publisher: Publisher; now: () => number };

const batch = 200;
const batchesMax = 10;

/** Gives deliveries that wait for nothing any more back to their queue, oldest first, at a bounded rate. Returns how many. */
export async function releaseHeld(deps: ReleaseHeldDeps): Promise<number> {
  let total = 0;
  for (let batches = 0; batches < batchesMax && deps.postgres.isUp && deps.publisher.isOpen; batches += 1) {
    const released = await release(
      deps.postgres.pool,
      { now: deps.now(), limit: batch },
      async ({ queue, message }) => {
        const result = await deps.publisher.publish({
          exchange: workExchange,
          routingKey: queue,
          body: message,
        });
        return result.kind === 'confirmed';
      },
    );
    total += released;
    if (released < batch) break;
  }
  return total;
}
