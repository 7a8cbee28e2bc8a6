import type { Cache } from '@hqrelay/cache/client';
import { raiseQueueHeads } from '@hqrelay/cache/fleet/queue-heads';
import type { Consumer } from '@hqrelay/queue/consumer';

export type MeasureQueueAgesDeps = {
  cache: Cache;
  consumers: readonly Pick<Consumer, 'name' | 'newestEnqueuedAt'>[];
  now: () => number;
};

/** Ages in ms of the oldest message that is ready in each queue; 0 for an empty one. */
export type QueueAges = ReadonlyMap<string, number>;

/**
 * Measures the age of the oldest message in the queues of the consumers. The broker does not tell it, but a queue hands out
 * its oldest message first: what waits was enqueued after the newest message that any worker received, and after the last time
 * that any worker found the queue empty. Workers share that time through Redis. While Redis is unavailable each one uses its
 * own; while the broker is (`depths` undefined), messages that waited grow older.
 */
export function createMeasureQueueAges({ cache, consumers, now }: MeasureQueueAgesDeps) {
  let heads = new Map<string, number>();
  let waiting = new Set<string>();

  return async (depths: ReadonlyMap<string, number> | undefined, askedAt: number): Promise<QueueAges> => {
    if (depths) waiting = new Set([...depths].filter(([, depth]) => depth > 0).map(([queue]) => queue));
    const own = new Map(
      consumers.map(({ name, newestEnqueuedAt }) => [
        name,
        depths && !waiting.has(name) ? askedAt : (newestEnqueuedAt ?? heads.get(name)),
      ]),
    );
    const shared = await cache.tryCommand((redis) => raiseQueueHeads(redis, own));
    heads = shared?.value ?? latestOf(heads, own, now());
    return new Map(
      consumers.map(({ name }) => [
        name,
        waiting.has(name) ? Math.max(0, now() - (heads.get(name) ?? now())) : 0,
      ]),
    );
  };
}

function latestOf(
  heads: ReadonlyMap<string, number>,
  own: ReadonlyMap<string, number | undefined>,
  now: number,
): Map<string, number> {
  return new Map(
    [...own].map(([queue, head]) => [queue, Math.max(heads.get(queue) ?? head ?? now, head ?? 0)]),
  );
}
