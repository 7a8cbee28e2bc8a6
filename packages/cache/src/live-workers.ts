import type { Redis } from 'ioredis';
import { runScript, script } from './script.ts';

const key = 'hqrelay:workers';

// By Redis's own clock, so that those of the workers may differ.
const beat = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZCARD', KEYS[1])`);

/** Says that this worker lives, and tells how many did so within the last `withinMs`. Throws when Redis does not answer. */
export async function countLiveWorkers(
  redis: Redis,
  { workerId, withinMs }: { workerId: string; withinMs: number },
): Promise<number> {
  return Number(await runScript(redis, beat, [key], [workerId, withinMs]));
}

/** A worker that stops leaves its share to the others at once. */
export async function leaveLiveWorkers(redis: Redis, workerId: string): Promise<void> {
  await redis.zrem(key, workerId);
}
