import type { ServiceName } from '@hqrelay/services/private-services';
import type { RunningServer } from '@hqrelay/services/running-server';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';

const orders: ServiceName[][] = [
  ['postgres', 'redis', 'rabbitmq'],
  ['postgres', 'rabbitmq', 'redis'],
  ['redis', 'postgres', 'rabbitmq'],
  ['redis', 'rabbitmq', 'postgres'],
  ['rabbitmq', 'postgres', 'redis'],
  ['rabbitmq', 'redis', 'postgres'],
];

describe('apps that start before their stores', () => {
  let world: World;
  let endpoint: RecordingEndpoint;
  let project: SeededProject;
  let apps: AppProcess[] = [];

  beforeAll(async () => {
    world = await createWorld(inject('run'), { own: ['postgres', 'redis', 'rabbitmq'] });
    endpoint = await startRecordingEndpoint();
    project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    // A seeding connection that is still open would report the server's end as an error.
    await waitFor('the seeding connections to close', async () => {
      const { rows } = await world.sql.query("select from pg_stat_activity where usename = 'hqrelay'");
      return rows.length === 0;
    });
  });

  afterEach(() => Promise.all(apps.map((app) => app.end('SIGKILL'))));

  afterAll(async () => {
    await endpoint?.close();
    await world?.close();
  });

  it.each(orders)('apps are ready once %s, %s, %s have started', async (...order) => {
    const servers = order.map((name) => world.servers[name] as RunningServer);
    await endAll(servers);
    apps = await Promise.all([
      startApp('receiver', { env: world.env }),
      startApp('worker', { env: world.env }),
    ]);
    for (const app of apps) {
      await waitFor('the app to answer /health', async () => (await fetch(`${app.url}/health`)).ok);
      expect((await fetch(`${app.url}/health/ready`)).status).toBe(503);
    }

    for (const server of servers) await server.start();
    for (const app of apps)
      await waitFor('the app to be ready', async () => (await statusOf(app)) === 'ready');

    const answer = await postWebhook(apps[0]!.url, project, { webhookId: order.join() });
    expect(answer.statusCode).toBe(202);
    // Deliveries of the worker that was killed before may be redelivered too.
    await waitFor('the delivery', () =>
      endpoint.requests.some(({ headers }) => headers['webhook-id'] === answer.body.id),
    );
    for (const app of apps) expect(statesLogged(app)).toEqual(expect.arrayContaining(['down', 'up']));
  });

  it('apps that have reached none of their stores exit with 0 on SIGTERM', async () => {
    await endAll(Object.values(world.servers));
    apps = await Promise.all([
      startApp('receiver', { env: world.env }),
      startApp('worker', { env: world.env }),
    ]);
    for (const app of apps)
      await waitFor('the app to answer /health', async () => (await fetch(`${app.url}/health`)).ok);
    expect(await Promise.all(apps.map((app) => app.end('SIGTERM')))).toEqual([0, 0]);
  });

  /** Stops Postgres cleanly, because it does not sync its writes here, and kills the others. */
  async function endAll(servers: RunningServer[]): Promise<void> {
    await Promise.all(
      servers.map((server) => (server === world.servers.postgres ? server.stop() : server.kill())),
    );
  }

  async function statusOf(app: AppProcess): Promise<string> {
    const response = await fetch(`${app.url}/health/ready`);
    return ((await response.json()) as { status: string }).status;
  }

  function statesLogged(app: AppProcess): unknown[] {
    return app.logs.filter((line) => line['msg'] === 'dependency.changed').map((line) => line['state']);
  }
});
