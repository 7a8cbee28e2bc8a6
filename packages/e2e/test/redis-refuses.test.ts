import type { RunningServer } from '@hqrelay/services/running-server';
import { connectRedis } from '@hqrelay/cache/connect-redis';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

describe('a receiver whose Redis answers with errors', () => {
  let world: World;
  let receiver: AppProcess;
  let admin: Redis;

  beforeAll(async () => {
    world = await createWorld(inject('run'), { own: ['redis'] });
    receiver = await startApp('receiver', { env: world.env });
    await receiver.waitUntilReady();
    await waitForRedis('up');
    admin = connectRedis((world.servers.redis as RunningServer).url, 'admin', { enableReadyCheck: false });
    await admin.connect();
  });

  afterAll(async () => {
    admin?.disconnect();
    await receiver?.end();
    await world?.close();
  });

  it.each([
    [
      'because its ACL forbids scripts',
      ['ACL', 'SETUSER', 'default', '-evalsha'],
      ['ACL', 'SETUSER', 'default', '+@all'],
    ],
    ['because it became a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    [
      'because it has too few replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
  ])('a receiver whose Redis fails %s accepts every webhook once, and recovers', async (why, bad, good) => {
    const project = await seedProject(world);
    const first = await postAll(project, why);
    await call(bad);
    try {
      const more = await postAll(project, `${why}, more`);
      const again = await postAll(project, why);
      expect(again).toEqual(first);
      expect(await postAll(project, `${why}, more`)).toEqual(more);
      await waitForRedis('down');
    } finally {
      await call(good);
    }
    await waitForRedis('up');
    expect(await postAll(project, why)).toEqual(first);
  });

  it('a receiver whose Redis fails for one project accepts its webhooks and reports the error once', async () => {
    const [poisoned, other] = await Promise.all([
      seedProject(world, { rateLimitPerMinute: 1_000 }),
      seedProject(world),
    ]);
    await admin.set(`hqrelay:ratelimit:{${poisoned.id}}`, 'not a sorted set');
    const before = reports();
    const first = await postAll(poisoned, 'poisoned');
    expect(await postAll(poisoned, 'poisoned')).toEqual(first);
    await postAll(other, 'other');
    expect(await admin.exists(`hqrelay:idempotency:{${other.id}}:other 0`)).toBe(1);
    expect(await redisState()).toBe('up');
    await waitFor('the report', () => reports() > before);
    expect(reports() - before).toBe(1);
  });

  /** Posts ten webhooks at once and expects each to be accepted. Returns their ids. */
  async function postAll(project: SeededProject, name: string): Promise<unknown[]> {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        postWebhook(receiver.url, project, { webhookId: `${name} ${index}`, body: `{"n":${index}}` }),
      ),
    );
    expect(answers.map((answer) => answer.statusCode)).toEqual(Array(10).fill(202));
    return answers.map((answer) => answer.body.id);
  }

  function call([name = '', ...args]: string[]): Promise<unknown> {
    return admin.call(name, ...args);
  }

  function reports(): number {
    return receiver.logs.filter((line) => line['msg'] === 'redis.command_refused').length;
  }

  async function redisState(): Promise<string> {
    const response = await fetch(`${receiver.url}/health/ready`);
    const { dependencies } = (await response.json()) as { dependencies: { redis: { state: string } } };
    return dependencies.redis.state;
  }

  function waitForRedis(state: string): Promise<unknown> {
    return waitFor(`Redis to be ${state}`, async () => (await redisState()) === state);
  }
});
