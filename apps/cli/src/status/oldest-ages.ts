import { largeQueueOf, type WorkQueue, workQueues } from '@hqrelay/queue/topology';

/** Seconds by work queue: 0 for an empty one, null where a store or a worker has not told. */
export type OldestAges = Record<WorkQueue, number | null>;

/** The age of the oldest message of each work queue together with its sibling, from what the workers share through Redis. */
export function oldestAges(
  depths: ReadonlyMap<string, number> | null,
  queueAgesMs: ReadonlyMap<string, number> | null,
): OldestAges {
  const ageOf = (queue: string): number | null => {
    const depth = depths?.get(queue);
    if (depth === 0) return 0;
    return depth === undefined ? null : (queueAgesMs?.get(queue) ?? null);
  };
  const ages = workQueues.map((queue) => {
    const [small, large] = [ageOf(queue), ageOf(largeQueueOf(queue))];
    const isKnown = small !== null && large !== null;
    return [queue, isKnown ? Math.round(Math.max(small, large) / 1_000) : null] as const;
  });
  return Object.fromEntries(ages) as OldestAges;
}
