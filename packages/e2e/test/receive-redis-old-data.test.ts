import { connectRedis } from '@hqrelay/cache/connect-redis';
import { trustMemory } from '@hqrelay/cache/admission/project-memory';
import type { RunningServer } from '@hqrelay/services/running-server';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, expect, it } from 'vitest';
import { openApp, openWorld } from './open-world.ts';

const world = await openWorld({ own: ['redis'] });
const server = world.servers.redis as RunningServer;
const redis = connectRedis(world.redisUrl, 'test');
afterAll(() => redis.disconnect());
await redis.connect();
const receiver = await openApp('receiver', world.env);
await receiver.waitUntilReady();
const project = await seedProject(world);
await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' });
await trustMemory(redis, project.id);

const post = (webhookId: string) => postWebhook(receiver.url, project, { webhookId });

/** The number of webhooks that are accepted in Redis. */
const acceptedKeys = async () => {
  const keys = await redis.keys('hqrelay:idempotency:*');
  const values = await Promise.all(keys.map((key) => redis.get(key)));
  return values.filter((value) => value?.startsWith('S')).length;
};

const redisState = async () => {
  const { dependencies } = (await (await fetch(`${receiver.url}/health/ready`)).json()) as {
    dependencies: { redis: { state: string } };
  };
  return dependencies.redis.state;
};

it('a duplicate of a webhook that Redis lost, because it started from an older snapshot, is recognised', async () => {
  await waitFor('Redis', async () => (await redisState()) === 'up');
  await post('before the snapshot');
  await waitFor('its mark', async () => (await acceptedKeys()) === 1);
  await redis.save();
  const first = await post('after the snapshot');
  expect(first.statusCode).toBe(202);
  await waitFor('its mark', async () => (await acceptedKeys()) === 2);

  await server.kill();
  await waitFor('the loss', async () => (await redisState()) === 'down');
  await server.start();
  // For 15 s after a connection every missing id is looked up; the test is about the time after that.
  await new Promise((resolve) => setTimeout(resolve, 16_000));
  await waitFor('Redis', async () => (await redisState()) === 'up');
  expect(await acceptedKeys()).toBe(1);

  const again = await post('after the snapshot');
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});
