import { randomUUID } from 'node:crypto';
import { admit } from '@hqrelay/cache/admission';
import { Cache } from '@hqrelay/cache/client';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { settleInRedis } from '../src/reservation/settle-in-redis.ts';

let cache: Cache;

beforeAll(async () => {
  cache = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {} });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
});

afterAll(() => cache.close());

const projectId = randomUUID();
const request = (webhookId: string) => ({
  projectId,
  webhookId,
  id: randomUUID(),
  payloadSha256: 'aa',
  token: randomUUID(),
  rateLimitPerMinute: null,
  idempotencyTtlSeconds: 3_600,
});

describe('what became of a reservation while Redis was away', () => {
  it.each([
    ['seen', { kind: 'seen', sameBody: true }],
    ['failed', { kind: 'admitted', takenOver: true }],
  ] as const)('(%s) is told when it is back: nobody waits for it in vain', async (end, expected) => {
    const first = request(`evt_${end}`);
    await admit(cache, first);

    cache.redis.disconnect();
    await waitFor('Redis to be down', () => cache.health.state === 'down');
    const settled = settleInRedis(cache, first, end);
    await new Promise((resolve) => setTimeout(resolve, 50));
    cache.start();
    await waitFor('Redis', () => cache.health.isUp);

    await settled;
    expect(await admit(cache, request(`evt_${end}`))).toMatchObject({ ...expected, id: first.id });
  });
});
