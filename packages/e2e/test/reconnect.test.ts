import type { RunningServer } from '@hqrelay/services/running-server';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook, type ProviderAnswer } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

describe('a restart of the stores', () => {
  let world: World;
  let receiver: AppProcess;
  let worker: AppProcess;
  let endpoint: RecordingEndpoint;
  let project: SeededProject;
  /** The ids of all answers 202. */
  const accepted = new Set<string>();

  beforeAll(async () => {
    world = await createWorld(inject('run'), { own: ['postgres', 'redis', 'rabbitmq'], durable: true });
    endpoint = await startRecordingEndpoint();
    [receiver, worker] = await Promise.all([
      startApp('receiver', { env: world.env }),
      startApp('worker', { env: world.env }),
    ]);
    await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);
    project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s,1s,1s' });
    await expectDelivered('before');
  });

  afterAll(async () => {
    await Promise.all([receiver?.end(), worker?.end()]);
    await endpoint?.close();
    await world?.close();
  });

  it.each([
    ['Redis', ['redis']],
    ['Postgres', ['postgres']],
    ['RabbitMQ', ['rabbitmq']],
    ['all three at once', ['postgres', 'redis', 'rabbitmq']],
  ] as const)(
    'webhooks are delivered again after a restart of %s without a restart of the apps',
    async (name, services) => {
      const servers = services.map((service) => world.servers[service] as RunningServer);
      const load = startLoad(receiver, project, name);
      await waitFor('webhooks to be accepted', () => load.accepted.length > 20);
      await Promise.all(servers.map((server) => server.kill()));
      await Promise.all(servers.map((server) => server.start()));
      const before = load.accepted.length;
      await waitFor('webhooks to be accepted again', () => load.accepted.length > before + 20);
      await load.stop();
      for (const id of load.accepted) accepted.add(id);

      await expectDelivered(`after ${name}`);
      await waitFor('every accepted webhook to be delivered', () => {
        const delivered = new Set(endpoint.requests.map((each) => each.headers['webhook-id']));
        return load.accepted.every((id) => delivered.has(id));
      });
      expect(load.slowestMs).toBeLessThan(2_500);
      expect(load.refused.filter((code) => code !== 503)).toEqual([]);
      await Promise.all([expectAllUp(receiver), expectAllUp(worker)]);
    },
  );

  it('webhooks are delivered again after an operator deleted the work queue', async () => {
    const { origin, username, password } = new URL(world.rabbitmqManagementUrl);
    const response = await fetch(`${origin}/api/queues/%2F/hqrelay.webhooks`, {
      method: 'DELETE',
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    });
    expect(response.status).toBe(204);
    await expectDelivered('after the queue was deleted');
  });

  it('every accepted webhook is recorded once, and no delivery waits, after the stores have restarted', async () => {
    const recorded = await waitFor('every accepted webhook to be recorded as delivered', async () => {
      const { rows } = await world.sql.query<{ id: string; state: string }>(
        'select webhook_log_id as id, state from delivery_status order by 1',
      );
      // A webhook that was refused with 503 may have been delivered too, under an id that no answer named.
      const ids = rows.map(({ id }) => id).filter((id) => accepted.has(id));
      return ids.length >= accepted.size && rows.every(({ state }) => state === 'delivered') && ids;
    });
    expect(recorded).toEqual([...accepted].toSorted());
  });

  it('both apps exit with 0 after their stores have restarted', async () => {
    expect(await Promise.all([receiver.end(), worker.end()])).toEqual([0, 0]);
  });

  async function expectDelivered(webhookId: string): Promise<void> {
    const answer = await waitFor('a webhook to be accepted', async () => {
      const given = await postWebhook(receiver.url, project, { webhookId });
      return given.statusCode === 202 && given;
    });
    accepted.add(answer.body.id as string);
    await waitFor('the webhook to be delivered', () =>
      endpoint.requests.some((each) => each.headers['webhook-id'] === answer.body.id),
    );
  }

  async function expectAllUp(app: AppProcess): Promise<void> {
    await waitFor('all its stores to be up', async () => {
      const response = await fetch(`${app.url}/health/ready`);
      return ((await response.json()) as { status: string }).status === 'ready';
    });
  }
});

/** Posts one webhook after the other, four at a time, and each again until it is accepted, as providers do. */
function startLoad(receiver: AppProcess, project: SeededProject, name: string) {
  const accepted: string[] = [];
  const refused: number[] = [];
  let slowestMs = 0;
  let stopped = false;
  let count = 0;
  const post = async (webhookId: string): Promise<ProviderAnswer> => {
    const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
      postWebhook(receiver.url, project, { webhookId }),
    );
    slowestMs = Math.max(slowestMs, undisturbedMs);
    return answer;
  };
  const sender = async () => {
    while (!stopped) {
      const webhookId = `${name} ${(count += 1)}`;
      const answer = await waitFor('a webhook to be accepted', async () => {
        const given = await post(webhookId);
        if (given.statusCode !== 202) refused.push(given.statusCode);
        return given.statusCode === 202 && given;
      });
      accepted.push(answer.body.id as string);
    }
  };
  const ended = Promise.all(Array.from({ length: 4 }, sender));
  return {
    accepted,
    refused,
    get slowestMs() {
      return slowestMs;
    },
    stop: async () => {
      stopped = true;
      await ended;
    },
  };
}
