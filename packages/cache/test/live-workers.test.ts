import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { countLiveWorkers, leaveLiveWorkers } from '../src/fleet/live-workers.ts';

let world: World;
let redis: Redis;

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['redis'] });
  redis = new Redis(world.redisUrl);
});

afterAll(async () => {
  redis.disconnect();
  await world.close();
});

const count = (workerId: string, withinMs = 60_000) => countLiveWorkers(redis, { workerId, withinMs });

it('a live worker is counted once, until it leaves or sends no heartbeat', async () => {
  expect(await count('a')).toBe(1);
  expect(await count('b')).toBe(2);
  expect(await count('a')).toBe(2);
  await leaveLiveWorkers(redis, 'b');
  expect(await count('a')).toBe(1);
  await count('dead');
  await redis.zadd('hqrelay:workers', 0, 'dead');
  expect(await count('a')).toBe(1);
});
