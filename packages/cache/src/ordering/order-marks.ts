import type { Redis } from 'ioredis';
import type { Cache } from '../client.ts';
import { runScript, script } from '../script.ts';

/** When a webhook of the project was last accepted without its rows in Postgres, ms since epoch on Redis's clock. */
export const orderMarkKey = (projectId: string) => `hqrelay:order:{${projectId}}`;

const lastPlaceKey = (projectId: string) => `hqrelay:lastplace:{${projectId}}`;

/** A mark that no worker removes is forgotten: no outage of Postgres lasts longer. */
const forgottenAfterMs = 7 * 86_400_000;

const markScript = script(`
local time = redis.call('TIME')
redis.call('SET', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), 'PX', ${forgottenAfterMs})
return 1`);

/** A clock of Redis that is set back does not change the order, for this long. */
const lastPlaceMs = 86_400_000;

const placeScript = script(`
local time = redis.call('TIME')
local at = math.max(time[1] * 1000000 + time[2], (tonumber(redis.call('GET', KEYS[2])) or 0) + 1)
redis.call('SET', KEYS[2], string.format('%.0f', at), 'PX', ${lastPlaceMs})
return { string.format('%.0f', at), redis.call('EXISTS', KEYS[1]) }`);

const unmarkScript = script(`
local at = tonumber(redis.call('GET', KEYS[1]))
local time = redis.call('TIME')
if at and at <= time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`);

/**
 * Makes ordered webhooks of the project that are accepted from now on wait for this one, whose rows Postgres does not have yet.
 * False when Redis is unavailable.
 */
export async function markBehind(cache: Cache, projectId: string): Promise<boolean> {
  const answer = await cache
    .tryCommand((redis) => runScript(redis, markScript, [orderMarkKey(projectId)], []))
    .catch(() => undefined);
  return answer !== undefined;
}

export type Place = {
  /** µs since epoch on Redis's clock; a webhook that is sent after the answer to another has a higher one. */
  acceptedAtUs: number;
  /** Whether the project is marked. */
  isBehind: boolean;
};

/** The place of a webhook among those of its project, whichever receiver takes them. Undefined when Redis is unavailable. */
export async function takePlace(cache: Cache, projectId: string): Promise<Place | undefined> {
  const answer = await cache
    .tryCommand((redis) =>
      runScript(redis, placeScript, [orderMarkKey(projectId), lastPlaceKey(projectId)], []),
    )
    .catch(() => undefined);
  if (!answer) return undefined;
  const [acceptedAtUs, marks] = answer.value as [string, number];
  return { acceptedAtUs: Number(acceptedAtUs), isBehind: marks > 0 };
}

/** Removes the marks of projects that are older than `olderThanMs`: every webhook of before is in Postgres. */
export async function removeMarks(
  redis: Redis,
  projectIds: readonly string[],
  olderThanMs: number,
): Promise<void> {
  for (const projectId of projectIds)
    await runScript(redis, unmarkScript, [orderMarkKey(projectId)], [olderThanMs]);
}
