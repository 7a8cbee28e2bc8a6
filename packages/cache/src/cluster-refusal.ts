import type { Redis } from 'ioredis';

/** A sentence when Redis is a node of a Redis Cluster. Undefined where an ACL hides it. Throws when Redis does not answer. */
export async function clusterRefusal(redis: Redis): Promise<string | undefined> {
  let info: string;
  try {
    info = await redis.info('cluster');
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw error;
  }
  if (!/^cluster_enabled:1/m.test(info)) return undefined;
  return 'REDIS_URL names a node of a Redis Cluster, which HQRelay does not support: use one Redis, or Redis Sentinel (redis+sentinel://host:26379,host:26379/master)';
}
