import type { RunningServer } from '@hqrelay/services/running-server';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

let world: World;
let broker: RunningServer;
let receiver: AppProcess;
let worker: AppProcess;
let endpoint: RecordingEndpoint;

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['rabbitmq'], durable: true });
  broker = world.servers.rabbitmq as RunningServer;
  endpoint = await startRecordingEndpoint();
  receiver = await startApp('receiver', { env: world.env });
  await waitFor('the receiver to have all its stores', async () => {
    const response = await fetch(`${receiver.url}/health/ready`);
    return ((await response.json()) as { status: string }).status === 'ready';
  });
});

afterAll(async () => {
  await Promise.all([receiver?.end(), worker?.end()]);
  await endpoint?.close();
  await world?.close();
});

it('a webhook that is recorded, but refused by the broker and the outbox, is delivered without a retry of its provider', async () => {
  const project = await seedProject(world);
  await seedEndpoint(world, project.id, { url: endpoint.url });
  const answer = await withoutRoomForMessages(() => postWebhook(receiver.url, project));
  expect(answer.statusCode).toBe(503);
  const rows = await waitFor('the row of the 503', async () => {
    const found = await world.sql.query<{ id: string; status: string; duplicate_of: string | null }>(
      'select id, status, duplicate_of from webhook_logs where project_id = $1 order by status',
      [project.id],
    );
    return found.rows.length === 2 && found.rows;
  });
  const [queued] = rows;
  expect(rows).toMatchObject([
    { status: 'queued', duplicate_of: null },
    { status: 'failed_to_queue', duplicate_of: queued!.id },
  ]);
  expect((await world.sql.query('select from outbox')).rows).toEqual([]);

  await broker.start();
  worker = await startApp('worker', { env: world.env });
  await worker.waitUntilReady();
  const [request] = await waitFor('the webhook', () => endpoint.requests.length > 0 && endpoint.requests, {
    timeoutMs: 400_000,
  });
  expect(request!.headers).toMatchObject({ 'webhook-id': queued!.id, 'x-hqrelay-attempt': '1' });
  await waitFor('the log line', () =>
    worker!.logs.some(({ msg, id }) => msg === 'webhook.put_back' && id === queued!.id),
  );
});

/** Runs `post` while no store accepts a message: the broker is frozen, then killed, and the outbox refuses rows. */
async function withoutRoomForMessages<T>(post: () => Promise<T>): Promise<T> {
  await world.sql.query(
    `create function refuse_row() returns trigger language plpgsql as $$
     begin raise exception 'no space left on device' using errcode = 'disk_full'; end $$`,
  );
  await world.sql.query(
    'create trigger refuse_row before insert on outbox for each row execute function refuse_row()',
  );
  broker.freeze();
  try {
    return await post();
  } finally {
    await broker.kill();
    await world.sql.query('drop trigger refuse_row on outbox');
  }
}
