import type { Cache } from '@hqrelay/cache/client';
import { aliveWithinMs, countLiveWorkers } from '@hqrelay/cache/fleet/live-workers';

/** The workers that share each endpoint's cap. */
export type Fleet = { readonly workerId: string; size: number };

/** Counts the live workers. While Redis is unavailable the last count stays. */
export async function countWorkers({ cache, fleet }: { cache: Cache; fleet: Fleet }): Promise<void> {
  const counted = await cache.tryCommand((redis) =>
    countLiveWorkers(redis, { workerId: fleet.workerId, withinMs: aliveWithinMs }),
  );
  if (counted) fleet.size = Math.max(1, counted.value);
}
