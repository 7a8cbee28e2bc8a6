import type { Redis } from 'ioredis';

/** A sentence when Redis may evict keys. Undefined where an ACL hides the setting. Throws when Redis does not answer. */
export async function evictionWarning(redis: Redis): Promise<string | undefined> {
  let policy: string | undefined;
  try {
    const answer: unknown = await redis.call('CONFIG', 'GET', 'maxmemory-policy');
    policy = Array.isArray(answer) ? String(answer[1]) : undefined;
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw error;
  }
  if (policy === undefined || policy === 'noeviction') return undefined;
  return `Redis may evict keys (maxmemory-policy ${policy}): an evicted idempotency key lets a duplicate through; set it to noeviction`;
}
