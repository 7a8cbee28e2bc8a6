import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { raiseQueueHeads, readQueueAges } from '../src/fleet/queue-heads.ts';

let world: World;
let redis: Redis;

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['redis'] });
  redis = new Redis(world.redisUrl);
});

beforeEach(() => redis.flushall());

afterAll(async () => {
  redis.disconnect();
  await world.close();
});

const raise = async (head: number | undefined) =>
  (await raiseQueueHeads(redis, new Map([['a', head]]))).get('a');

it('the latest time that any worker has shared is returned, also to a worker that has none', async () => {
  const at = Date.now() - 60_000;
  expect(await raise(at)).toBe(at);
  expect(await raise(at - 5_000)).toBe(at);
  expect(await raise(undefined)).toBe(at);
  expect(await raise(at + 5_000)).toBe(at + 5_000);
});

it('each queue has a time of its own', async () => {
  const at = Date.now() - 60_000;
  const heads = new Map([
    ['a', at],
    ['b', at - 1],
  ]);
  expect(await raiseQueueHeads(redis, heads)).toEqual(heads);
});

it('while no worker has shared a time, the first call is the beginning', async () => {
  const first = await raise(undefined);
  expect(Math.abs(Number(first) - Date.now())).toBeLessThan(10_000);
  expect(await raise(undefined)).toBe(first);
});

it('the clock of a worker that is ahead of Redis hides no backlog', async () => {
  const hour = 3_600_000;
  expect(await raise(Date.now() + hour)).toBeLessThan(Date.now() + hour / 2);
});

it('the age of a queue is the time since its shared head, and a queue that no worker measured has none', async () => {
  await raise(Date.now() - 60_000);
  const ages = await readQueueAges(redis);
  expect([...ages.keys()]).toEqual(['a']);
  expect(Math.abs((ages.get('a') ?? 0) - 60_000)).toBeLessThan(10_000);
});
