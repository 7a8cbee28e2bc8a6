import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { countNearLimit, markNearLimit } from '../src/near-limit.ts';

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

it('a project that was marked near its limit is counted once, until a minute after its last mark', async () => {
  expect(await countNearLimit(redis)).toBe(0);
  for (const projectId of ['a', 'b', 'a']) await markNearLimit(redis, projectId);
  expect(await countNearLimit(redis)).toBe(2);
  const score = Number(await redis.zscore('hqrelay:nearLimit', 'a'));
  await redis.zadd('hqrelay:nearLimit', score - 60_001, 'a', score - 55_000, 'b');
  expect(await countNearLimit(redis)).toBe(1);
  await markNearLimit(redis, 'a');
  expect(await countNearLimit(redis)).toBe(2);
});
