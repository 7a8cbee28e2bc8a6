import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { startRedisSentinels, type RedisSentinels } from '@hqrelay/testing/servers/redis-sentinels';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

describe('a Redis with three sentinels', () => {
  let world: World;
  let group: RedisSentinels;
  let apps: AppProcess[] = [];
  let receivers: AppProcess[];
  let endpoint: RecordingEndpoint;
  let project: SeededProject;

  beforeAll(async () => {
    const run = inject('run');
    [world, group] = await Promise.all([createWorld(run), startRedisSentinels({ folder: run.folder })]);
    endpoint = await startRecordingEndpoint();
    const env = { ...world.env, REDIS_URL: group.url };
    const [one, two, worker] = await Promise.all([
      startApp('receiver', { env }),
      startApp('receiver', { env }),
      startApp('worker', { env }),
    ]);
    apps = [one, two, worker];
    receivers = [one, two];
    await Promise.all(apps.map((app) => waitForStatus(app, 'ready')));
    project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app.end()));
    await endpoint?.close();
    await world?.close();
    await group?.close();
  });

  it.each([
    ['is killed', (primary: RedisSentinels['servers'][0]) => primary.kill()],
    ['freezes', async (primary: RedisSentinels['servers'][0]) => primary.freeze()],
  ])(
    'when the primary behind sentinels %s under load, every webhook is answered 202 under one id and delivered',
    async (how, end) => {
      const primaryPort = await group.primaryPort();
      const primary = group.servers.find((server) => server.port === primaryPort);
      if (!primary) throw new Error('the sentinels name an unknown primary');
      const load = startLoad(receivers, project, how);
      await waitFor('webhooks to be accepted', () => load.ids.size > 50);
      await end(primary);
      await waitFor('the failover', async () => (await group.primaryPort()) !== primaryPort);
      await Promise.all(apps.map((app) => waitForStatus(app, 'ready')));
      const before = load.ids.size;
      await waitFor('webhooks to be accepted', () => load.ids.size > before + 50);
      await load.stop();
      await load.postAllAgain();
      primary.thaw();
      if (how === 'is killed') await primary.start();

      expect(load.refused).toEqual([]);
      expect(load.slowestMs).toBeLessThan(2_500);
      expect([...load.ids.values()].filter((ids) => ids.size !== 1)).toEqual([]);
      const accepted = [...load.ids.values()].flatMap((ids) => [...ids]);
      await waitFor('every accepted webhook to be delivered', () => {
        const delivered = new Set(endpoint.requests.map((each) => each.headers['webhook-id']));
        return accepted.every((id) => delivered.has(id));
      });
      await waitFor('the old primary to follow the new one', () => isReplica(primary.url));
    },
  );

  async function waitForStatus(app: AppProcess, status: string): Promise<void> {
    await waitFor(`${app.url} to be ${status}`, async () => {
      const response = await fetch(`${app.url}/health/ready`);
      return ((await response.json()) as { status: string }).status === status;
    });
  }
});

/**
 * Posts webhooks, four at a time, each to one receiver and its duplicate to the other. `ids` has every id under which a
 * webhook was accepted.
 */
function startLoad(receivers: readonly AppProcess[], project: SeededProject, name: string) {
  const ids = new Map<string, Set<string>>();
  const refused: number[] = [];
  let slowestMs = 0;
  let isStopped = false;
  let count = 0;

  async function post(webhookId: string, receiver: AppProcess): Promise<void> {
    const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
      postWebhook(receiver.url, project, { webhookId, body: JSON.stringify({ webhookId }) }),
    );
    slowestMs = Math.max(slowestMs, undisturbedMs);
    if (answer.statusCode !== 202) refused.push(answer.statusCode);
    else ids.set(webhookId, (ids.get(webhookId) ?? new Set()).add(answer.body.id as string));
  }

  async function send(): Promise<void> {
    while (!isStopped) {
      const webhookId = `${name} ${(count += 1)}`;
      const [one, other] = count % 2 === 0 ? receivers : [...receivers].reverse();
      await post(webhookId, one as AppProcess);
      await post(webhookId, other as AppProcess);
    }
  }

  const ended = Promise.all(Array.from({ length: 4 }, send));
  return {
    ids,
    refused,
    get slowestMs() {
      return slowestMs;
    },
    async stop() {
      isStopped = true;
      await ended;
    },
    async postAllAgain() {
      for (const [index, webhookId] of [...ids.keys()].entries()) {
        await post(webhookId, receivers[index % receivers.length] as AppProcess);
      }
    },
  };
}

async function isReplica(url: string): Promise<boolean> {
  const redis = new Redis(url);
  try {
    return (await redis.info('replication')).includes('role:slave');
  } finally {
    redis.disconnect();
  }
}
