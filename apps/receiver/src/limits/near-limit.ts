import type { Cache } from '@hqrelay/cache/client';
import { markNearLimit } from '@hqrelay/cache/near-limit';
import { createProjectBudget } from './project-budget.ts';

export type NearLimit = { projectId: string; rateLimitPerMinute: number };

const everyTenSeconds = { perSecond: 0.1, burst: 1 };
const everyMinute = { perSecond: 1 / 60, burst: 1 };

/**
 * Marks projects that have used 80 % of their rate limit, each at most every ten seconds, and warns of each at most every
 * minute. No answer waits for it; while Redis is unavailable the limit is not in force, and nothing is marked.
 */
export function createNearLimit(cache: Cache, warn: (project: NearLimit) => void) {
  const mayMark = createProjectBudget({
    perProject: everyTenSeconds,
    total: { perSecond: 500, burst: 5_000 },
  });
  const mayWarn = createProjectBudget({ perProject: everyMinute, total: { perSecond: 2, burst: 50 } });
  return (project: NearLimit, now: number): void => {
    if (!mayMark(project.projectId, now)) return;
    // The mark is repeated in ten seconds; a Redis that refuses it is reported by the cache.
    void cache.tryCommand((redis) => markNearLimit(redis, project.projectId)).catch(() => undefined);
    if (mayWarn(project.projectId, now)) warn(project);
  };
}
