import type { Redis } from 'ioredis';
import { timeOf } from './redis-time.ts';
import { runScript, script } from '../script.ts';

const key = 'hqrelay:workers';

/** A worker without a heartbeat within this time counts as ended. */
export const aliveWithinMs = 7_000;

// On Redis's clock: those of the workers may differ.
const beat = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZCARD', KEYS[1])`);

/** Records a heartbeat of this worker and returns how many workers sent one within `withinMs`. Throws when Redis does not answer. */
export async function countLiveWorkers(
  redis: Redis,
  { workerId, withinMs }: { workerId: string; withinMs: number },
): Promise<number> {
  return Number(await runScript(redis, beat, [key], [workerId, withinMs]));
}

/** Removes a worker that stops, so that the others take its share at once. */
export async function leaveLiveWorkers(redis: Redis, workerId: string): Promise<void> {
  await redis.zrem(key, workerId);
}

/** How many workers sent a heartbeat within `aliveWithinMs`. Throws when Redis does not answer. */
export async function readLiveWorkers(redis: Redis): Promise<number> {
  return redis.zcount(key, (await timeOf(redis)) - aliveWithinMs, '+inf');
}

/** By how much this machine's clock is ahead of Redis', in ms. Throws when Redis does not answer. */
export async function clockOffsetOf(redis: Redis, now: () => number): Promise<number> {
  const askedAt = now();
  const redisTime = await timeOf(redis);
  return Math.round((askedAt + now()) / 2 - redisTime);
}
