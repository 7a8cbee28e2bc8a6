import type { Redis } from 'ioredis';
import { readOrigin } from '../redis-origin.ts';
import { reservationLua } from '../reservation-value.ts';
import { runScript, script } from '../script.ts';
import { epochKey, originKey } from './reservation-keys.ts';

const distrustScript = script(`${reservationLua}
redis.call('SET', KEYS[1], string.format('%.0f', now))
return 1`);

/**
 * Records that this Redis knows every id of a new project. Call it when the project is created: without it, ids that Redis
 * does not know are looked up in Postgres for one idempotency window.
 */
export async function trustMemory(redis: Redis, projectId: string): Promise<void> {
  await redis.set(originKey(projectId), await readOrigin(redis), 'NX');
  await redis.set(epochKey(projectId), '0', 'NX');
}

/**
 * Ids of the project were accepted without this Redis: for one window, those it does not know are looked up in Postgres.
 * Throws when Redis does not run the command in time; it may run later.
 */
export async function distrustMemory(redis: Redis, projectId: string): Promise<void> {
  await runScript(redis, distrustScript, [epochKey(projectId)], []);
}
