import { Cache } from '@hqrelay/cache/client';
import { markNearLimit } from '@hqrelay/cache/near-limit';
import { createRegistry } from '@hqrelay/runtime/metrics';
import type { RunningServer } from '@hqrelay/services/running-server';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, expect, inject, it } from 'vitest';
import { countNearLimit } from '../src/jobs/count-near-limit.ts';
import { createBacklogGauges } from '../src/jobs/measure-backlog.ts';

const world = await createWorld(inject('run'), { own: ['redis'] });
const cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {} });
afterAll(async () => {
  await cache.close();
  await world.close();
});

it('hqrelay_projects_near_limit is the number of marked projects, and zero while Redis is unavailable', async () => {
  const registry = createRegistry();
  const gauges = createBacklogGauges(registry);
  const measure = async () => {
    await countNearLimit({ cache, gauges });
    return (await registry.metrics()).match(/^hqrelay_projects_near_limit (\d+)$/m)?.[1];
  };
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
  for (let i = 0; i < 2; i += 1) await markNearLimit(cache.redis, freshId());
  expect(await waitFor('the count', async () => (await measure()) === '2' && '2')).toBe('2');
  await (world.servers.redis as RunningServer).stop();
  await waitFor('the loss', () => !cache.health.isUp);
  expect(await measure()).toBe('0');
});
