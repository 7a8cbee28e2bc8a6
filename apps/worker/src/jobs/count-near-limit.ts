import type { Cache } from '@hqrelay/cache/client';
import { countNearLimit as countInRedis } from '@hqrelay/cache/near-limit';
import type { MeasureBacklogDeps } from './measure-backlog.ts';

/** Sets the gauge of projects near their rate limit: none while Redis is unavailable, because no limit is in force then. */
export async function countNearLimit({
  cache,
  gauges,
}: {
  cache: Cache;
  gauges: Pick<MeasureBacklogDeps['gauges'], 'projectsNearLimit'>;
}): Promise<void> {
  const counted = await cache.tryCommand(countInRedis);
  gauges.projectsNearLimit.set(counted?.value ?? 0);
}
