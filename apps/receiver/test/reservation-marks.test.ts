import { randomUUID } from 'node:crypto';
import { Cache } from '@hqrelay/cache/client';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createRedisStore } from '../src/reservation/redis-store.ts';
import { RedisTrust } from '../src/reservation/redis-trust.ts';
import type { KeyRequest, ReservationStore, StoreAnswer } from '../src/reservation/reservation-store.ts';

let cache: Cache;
let store: ReservationStore;

beforeAll(async () => {
  cache = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {} });
  store = createRedisStore({ cache, trust: new RedisTrust(cache), findPrior: async () => null });
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
});

afterAll(() => cache.close());

const projectId = randomUUID();
const request = (webhookId: string): KeyRequest => ({
  projectId,
  webhookId,
  id: randomUUID(),
  payloadSha256: 'aa',
  token: randomUUID(),
  rateLimitPerMinute: null,
  idempotencyTtlSeconds: 3_600,
  onConflict: 'reject',
  contentKey: null,
});

async function reserve(of: KeyRequest): Promise<Extract<StoreAnswer, { kind: 'held' }>> {
  const answer = await store.reserve(of);
  if (answer?.kind !== 'held') throw new Error(`answered ${JSON.stringify(answer)}`);
  return answer;
}

describe('the end of a reservation that Redis was unavailable for', () => {
  it.each([
    ['accept', { isMine: false, held: { state: 'accepted' } }],
    ['release', { isMine: true, held: { state: 'reserved' } }],
  ] as const)('is told to Redis when it is back (%s)', async (end, expected) => {
    const first = request(`evt_${end}`);
    const { handle } = await reserve(first);

    cache.redis.disconnect();
    await waitFor('Redis to be down', () => cache.health.state === 'down');
    if (end === 'accept') handle.accept(first);
    else handle.release();
    cache.start();

    const isEnded = async () => {
      const value = await cache.redis.get(`hqrelay:idempotency:{${projectId}}:evt_${end}`).catch(() => '');
      return value?.startsWith(end === 'accept' ? 'S' : 'F');
    };
    await waitFor('the mark', isEnded);
    const next = await reserve(request(`evt_${end}`));
    expect(next).toMatchObject(expected);
    expect(next.held.id).toBe(first.id);
  });
});
