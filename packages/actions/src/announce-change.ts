import { trustMemory } from '@hqrelay/cache/admission/project-memory';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import type { connectRedis } from '@hqrelay/cache/connect-redis';

/**
 * Announces a committed change of a project to receivers and workers. Redis knows every id of a new project, so its memory is
 * trusted. Throws when Redis is unavailable.
 */
export async function announceChange(
  redis: ReturnType<typeof connectRedis>,
  projectId: string,
  { isNew }: { isNew: boolean },
): Promise<void> {
  if (isNew) await trustMemory(redis, projectId);
  await announceProjectChange(redis, projectId);
}
