import { randomUUID } from 'node:crypto';
import { Cache } from '@hqrelay/cache/client';
import { bothKeys } from '@hqrelay/domain/inbound/reservation';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createRedisStore } from '../src/reservation/redis-store.ts';
import { RedisTrust } from '../src/reservation/redis-trust.ts';
import type { KeyRequest, ReservationStore, StoreAnswer } from '../src/reservation/reservation-store.ts';

let cache: Cache;
let store: ReservationStore;

beforeAll(async () => {
  cache = new Cache({ url: inject('run').redis, name: 'test', onChange: () => {} });
  store = createRedisStore({
    cache,
    trust: new RedisTrust(cache),
    findPrior: async () => null,
    onNearLimit: () => {},
  });
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
  contentKeys: [],
});

async function reserve(of: KeyRequest): Promise<Extract<StoreAnswer, { kind: 'held' }>> {
  const answer = await waitFor('an answer', () => store.reserve(of));
  if (answer.kind !== 'held') throw new Error(`answered ${JSON.stringify(answer)}`);
  return answer;
}

describe('a request whose body has a key of its own', () => {
  const contentKeys = [{ name: 'body:aa', ttlSeconds: 3_600, isBody: true }];
  const stateOf = async (key: string) => (await cache.redis.get(key))?.[0];
  const states = (id: string) =>
    Promise.all([
      stateOf(`hqrelay:idempotency:{${projectId}}:${id}`),
      stateOf(`hqrelay:content:{${projectId}}:body:aa`),
    ]);

  it('a request with a body key releases both keys when its webhook cannot be made durable', async () => {
    const first = { ...request('evt_body_1'), contentKeys };
    const { handle } = await reserve(first);
    handle.release();
    await waitFor('both marks', async () => (await states('evt_body_1')).join() === 'F,F');
    const next = await reserve({ ...request('evt_body_2'), contentKeys });
    expect(next).toMatchObject({ isMine: true, held: { id: first.id } });
    next.handle.release();
    await waitFor('both marks', async () => (await states('evt_body_2')).join() === 'F,F');
  });

  it.each([
    ['its id alone', { id: true, content: false }, 'S,F'],
    ['its body alone', { id: false, content: true }, 'F,S'],
  ])('a request accepts the key of %s and releases the other key', async (_keys, stands, marks) => {
    const id = `evt_${marks}`;
    const asked = { ...request(id), contentKeys };
    const { handle } = await reserve(asked);
    handle.accept(asked, stands);
    await waitFor('both marks', async () => (await states(id)).join() === marks);
  });
});

describe('a reservation that ends while Redis is unavailable', () => {
  it.each([
    ['accept', { isMine: false, held: { state: 'accepted' } }],
    ['release', { isMine: true, held: { state: 'reserved' } }],
  ] as const)('a mark that an outage of Redis prevented is written after it (%s)', async (end, expected) => {
    const first = request(`evt_${end}`);
    const { handle } = await reserve(first);

    cache.redis.disconnect();
    await waitFor('Redis to be down', () => cache.health.state === 'down');
    if (end === 'accept') handle.accept(first, bothKeys);
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

  it('an id whose reservation Redis lost before it was accepted is accepted all the same', async () => {
    const first = request('evt_lost');
    const { handle } = await reserve(first);
    await cache.redis.del(keyOf('evt_lost'));
    handle.accept(first, bothKeys);
    await waitFor('the mark', async () => (await cache.redis.get(keyOf('evt_lost')))?.startsWith('S'));
    const next = await reserve(request('evt_lost'));
    expect(next).toMatchObject({ isMine: false, held: { state: 'accepted', id: first.id } });
  });

  it('a request that released its id late leaves the reservation of the retry that took it over', async () => {
    const first = request('evt_late');
    const { handle } = await reserve(first);
    await cache.redis.del(keyOf('evt_late'));
    const retry = await reserve(request('evt_late'));
    handle.release();
    retry.handle.accept({ ...first, id: retry.held.id }, bothKeys);
    await waitFor('the mark', async () => (await cache.redis.get(keyOf('evt_late')))?.startsWith('S'));
    const next = await reserve(request('evt_late'));
    expect(next).toMatchObject({ isMine: false, held: { state: 'accepted', id: retry.held.id } });
  });
});

const keyOf = (webhookId: string) => `hqrelay:idempotency:{${projectId}}:${webhookId}`;
