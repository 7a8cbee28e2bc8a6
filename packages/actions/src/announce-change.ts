import { rememberFromBirth } from '@hqrelay/cache/admission';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import type { connectRedis } from '@hqrelay/cache/connect-redis';

/**
 * Tells receivers and workers of a committed change of a project, and Redis that it has every id of a project that is new.
 * Throws when Redis is unavailable.
 */
export async function announceChange(
  redis: ReturnType<typeof connectRedis>,
  projectId: string,
  { isNew }: { isNew: boolean },
): Promise<void> {
  if (isNew) await rememberFromBirth(redis, projectId);
  await announceProjectChange(redis, projectId);
}
