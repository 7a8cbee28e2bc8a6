import { rememberFromBirth } from '@hqrelay/cache/admission';
import { Redis } from 'ioredis';

/** As the command line does for a project it makes: what this Redis does not know of it was never seen. */
export async function trustRedis(redisUrl: string, projectIds: readonly string[]): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    for (const projectId of projectIds) await rememberFromBirth(redis, projectId);
  } finally {
    redis.disconnect();
  }
}
