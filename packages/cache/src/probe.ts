import type { Redis } from 'ioredis';
import { runScript, script } from './script.ts';

// The kinds of commands that admission uses, on keys of its own.
const probeScript = script(`
local time = redis.call('TIME')
redis.call('SET', KEYS[1], time[1], 'EX', 60)
redis.call('ZADD', KEYS[2], time[1], 'probe')
redis.call('PEXPIRE', KEYS[2], 60000)
return redis.call('GET', KEYS[1])`);

/**
 * Resolves when Redis runs scripts and takes writes. A PING says less: a replica, a Redis without memory or disk, and one
 * whose ACL forbids scripts all answer it.
 */
export async function probe(redis: Redis): Promise<void> {
  await runScript(redis, probeScript, ['hqrelay:probe:{probe}:value', 'hqrelay:probe:{probe}:set'], []);
}
