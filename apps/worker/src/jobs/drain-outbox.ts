import type { Postgres } from '@hqrelay/db/postgres';
import { drainOutbox as drain, type OutboxTarget } from '@hqrelay/db/queries/outbox';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { smallMessageBytesMax } from '@hqrelay/queue/topology';

export type DrainOutboxDeps = { postgres: Postgres; publisher: Publisher };

const limit = 500;

/**
 * Publishes the messages of the outbox in the order they came, until none is left to try or `stopping` is aborted. After a
 * failed publish the other messages for that target wait for the next run, so that one queue never blocks the rest.
 * Returns how many it published.
 */
export async function drainOutbox(deps: DrainOutboxDeps, stopping?: AbortSignal): Promise<number> {
  const { postgres, publisher } = deps;
  const failed = new Map<string, OutboxTarget>();
  let total = 0;
  while (!stopping?.aborted && postgres.health.isUp && publisher.health.isUp) {
    const options = { limit, smallBytesMax: smallMessageBytesMax, except: [...failed.values()] };
    const { tried, published } = await drain(postgres.pool, options, async (row) => {
      const { exchange, routingKey, message } = row;
      const result = await publisher.publish({ exchange, routingKey, body: message });
      if (result.kind === 'confirmed') return true;
      const isLarge = message.length > smallMessageBytesMax;
      failed.set(`${exchange} ${routingKey} ${isLarge}`, { exchange, routingKey, isLarge });
      return false;
    });
    total += published;
    if (tried === 0) break;
  }
  return total;
}
