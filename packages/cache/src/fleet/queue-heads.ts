import type { Redis } from 'ioredis';
import { timeOf } from './redis-time.ts';
import { runScript, script } from '../script.ts';

const key = 'hqrelay:queueHeads';

// The latest time wins, because a queue hands out its oldest message first. A time ahead of Redis's clock comes from a worker
// whose clock is wrong, and would hide a backlog until that time.
const raise = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local heads = {}
for i = 1, #ARGV, 2 do
  local head = math.min(tonumber(redis.call('HGET', KEYS[1], ARGV[i])) or -1, now)
  local given = math.min(tonumber(ARGV[i + 1]) or -1, now)
  head = math.max(head, given)
  if head < 0 then head = now end
  redis.call('HSET', KEYS[1], ARGV[i], string.format('%.0f', head))
  heads[#heads + 1] = head
end
return heads`);

/**
 * Shares, for each queue, a time before which none of its messages was enqueued (undefined: not known to this process), and
 * returns the latest that any process has shared, ms since epoch. Where no process knew one, it is the time of this call, so
 * that the age of a backlog counts from its first measurement. Throws when Redis does not answer.
 */
export async function raiseQueueHeads(
  redis: Redis,
  heads: ReadonlyMap<string, number | undefined>,
): Promise<Map<string, number>> {
  const args = [...heads].flatMap(([queue, head]) => [queue, head ?? '']);
  const raised = (await runScript(redis, raise, [key], args)) as number[];
  return new Map([...heads.keys()].map((queue, index) => [queue, Number(raised[index])]));
}

/** For each queue that a worker has measured, the ms since the time that `raiseQueueHeads` returns for it. Throws when Redis does not answer. */
export async function readQueueAges(redis: Redis): Promise<Map<string, number>> {
  const [heads, now] = await Promise.all([redis.hgetall(key), timeOf(redis)]);
  return new Map(Object.entries(heads).map(([queue, head]) => [queue, Math.max(0, now - Number(head))]));
}
