import type { Redis } from 'ioredis';
import { runScript, script } from './script.ts';

const key = 'hqrelay:nearLimit';
/** The rate limit's window: after that the webhooks that were counted have left it. */
const nearForMs = 60_000;

// On Redis's clock: those of the receivers and workers may differ.
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
const markScript = script(`${now}
return redis.call('ZADD', KEYS[1], now, ARGV[1])`);
const countScript = script(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${nearForMs})
return redis.call('ZCARD', KEYS[1])`);

/** Records that a project has used 80 % of its rate limit. Throws when Redis does not answer. */
export async function markNearLimit(redis: Redis, projectId: string): Promise<void> {
  await runScript(redis, markScript, [key], [projectId]);
}

const listScript = script(`${now}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${nearForMs})
return redis.call('ZRANGE', KEYS[1], 0, -1)`);

/** The projects that were marked in the last minute. Throws when Redis does not answer. */
export async function listNearLimit(redis: Redis): Promise<string[]> {
  return (await runScript(redis, listScript, [key], [])) as string[];
}

/** How many projects were marked in the last minute. Throws when Redis does not answer. */
export async function countNearLimit(redis: Redis): Promise<number> {
  return Number(await runScript(redis, countScript, [key], []));
}
