import { randomUUID } from 'node:crypto';
import type { RunningServer } from '@hqrelay/services/running-server';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import fc from 'fast-check';
import { afterAll, expect, inject, it } from 'vitest';
import { admit } from '../src/admission/admit.ts';
import { Cache } from '../src/client.ts';

const world = await createWorld(inject('run'), { own: ['redis'] });
const cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {}, answerWithinMs: 30_000 });
cache.start();
afterAll(async () => {
  await cache.close();
  await world.close();
});

const windowMs = 60_000;
/** Real time that a run may take without crossing a boundary of the model. */
const slackMs = 5_000;
const key = (projectId: string) => `hqrelay:ratelimit:{${projectId}}`;

/** Ages of webhooks in the window, near its boundary and far from it, and a limit. */
const history = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  ages: fc.array(
    fc.oneof(
      fc.integer({ min: 0, max: windowMs - slackMs }),
      fc.integer({ min: windowMs + 1, max: 3 * windowMs }),
      fc.constant(windowMs + 1),
    ),
    { maxLength: 15 },
  ),
  requests: fc.integer({ min: 1, max: 8 }),
});

it('the sliding window admits exactly as many webhooks as the limit leaves, whatever came before', async () => {
  await waitFor('Redis', () => cache.health.isUp);
  await fc.assert(
    fc.asyncProperty(history, async ({ limit, ages, requests }) => {
      const projectId = randomUUID();
      const now = await redisNow();
      const members = ages.flatMap((age) => [now - age, randomUUID()]);
      if (members.length > 0) await cache.redis.zadd(key(projectId), ...members);
      const inWindow = ages.filter((age) => age < windowMs).sort((a, b) => b - a);
      const free = Math.max(0, limit - inWindow.length);
      for (let n = 0; n < requests; n += 1) {
        const answer = await ask(requestOf(projectId, limit));
        expect(answer.kind).toBe(n < free ? 'held' : 'rate_limited');
        if (answer.kind !== 'rate_limited') continue;
        // The place of the webhook whose departure leaves less than the limit; one of this run leaves a whole window later.
        const counted = [...inWindow, ...Array.from({ length: Math.min(n, free) }, () => 0)];
        const freeInMs = windowMs - (counted[counted.length - limit] as number);
        expect(answer.retryAfterMs).toBeLessThanOrEqual(freeInMs + slackMs);
        expect(answer.retryAfterMs).toBeGreaterThan(freeInMs - slackMs);
      }
    }),
    { numRuns: 150, seed: 20_261_122 },
  );
});

it('a place is taken for exactly sixty seconds of the clock of Redis', async () => {
  await waitFor('Redis', () => cache.health.isUp);
  const projectId = randomUUID();
  const [first, second] = [requestOf(projectId, 1), requestOf(projectId, 1)];
  expect(await ask(first)).toMatchObject({ kind: 'held', isMine: true });
  const takenAt = Number(await cache.redis.zscore(key(projectId), first.token));
  const refused = await ask(second);
  if (refused.kind !== 'rate_limited') throw new Error(`answered ${JSON.stringify(refused)}`);
  const leavesAt = takenAt + windowMs;
  expect(Math.abs(leavesAt - (await redisNow()) - refused.retryAfterMs)).toBeLessThan(slackMs);
  // At the boundary itself: a webhook of exactly sixty seconds ago has left the window, one of a moment less has not.
  await cache.redis.zadd(key(projectId), (await redisNow()) - windowMs, first.token);
  expect(await ask(second)).toMatchObject({ kind: 'held', isMine: true });
});

it('the limit is open while Redis is unavailable', async () => {
  const server = world.servers.redis as RunningServer;
  await server.stop();
  await waitFor('the loss', () => !cache.health.isUp);
  expect(await admit(cache, requestOf(randomUUID(), 0))).toBeUndefined();
});

/** Asks again with the same token while a busy machine makes Redis late. */
const ask = (of: Parameters<typeof admit>[1]) => waitFor('Redis to answer', () => admit(cache, of));

const requestOf = (projectId: string, rateLimitPerMinute: number) => ({
  projectId,
  webhookId: randomUUID(),
  id: randomUUID(),
  payloadSha256: 'aa',
  token: randomUUID(),
  rateLimitPerMinute,
  idempotencyTtlSeconds: 3_600,
  contentKeys: [],
});

async function redisNow(): Promise<number> {
  const [seconds, microseconds] = await cache.redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
