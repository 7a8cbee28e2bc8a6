import type { Redis } from 'ioredis';

/** ms since epoch on the clock of Redis. Throws when Redis does not answer. */
export async function timeOf(redis: Redis): Promise<number> {
  const [seconds = 0, microseconds = 0] = (await redis.time()).map(Number);
  return seconds * 1_000 + Math.floor(microseconds / 1_000);
}
