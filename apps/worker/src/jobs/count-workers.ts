import type { Cache } from '@hqrelay/cache/client';
import { countLiveWorkers } from '@hqrelay/cache/live-workers';

/** Those who share each endpoint's cap. */
export type Crew = { readonly workerId: string; size: number };

const aliveWithinMs = 7_000;

/** Counts the workers that live; while Redis is away the last count stands. */
export async function countWorkers({ cache, crew }: { cache: Cache; crew: Crew }): Promise<void> {
  const counted = await cache.tryCommand((redis) =>
    countLiveWorkers(redis, { workerId: crew.workerId, withinMs: aliveWithinMs }),
  );
  if (counted) crew.size = Math.max(1, counted.value);
}
