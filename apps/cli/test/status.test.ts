import { connectRedis } from '@hqrelay/cache/connect-redis';
import { readQueueAges } from '@hqrelay/cache/fleet/queue-heads';
import { openModel } from '@hqrelay/queue/connection/open-model';
import { createWorld } from '@hqrelay/testing/world';
import { waitFor } from '@hqrelay/testing/wait-for';
import { startApp } from '@hqrelay/testing/app-process';
import { afterAll, expect, inject, it } from 'vitest';
import { openWorkerWorld } from './apps-world.ts';
import { receive } from './dead-letter-world.ts';
import { jsonOf, runCli } from './run-cli.ts';

type Status = {
  dependencies: { name: string; state: string; reason: string | null }[];
  workers: number | null;
  queues: Record<string, number> | null;
  oldestAgeSeconds: Record<string, number | null>;
  held: Record<string, number> | null;
  deadLetters: number | null;
  outbox: number | null;
  spilled: number | null;
  clockOffsetsMs: { postgres: number | null; redis: number | null };
  partitionsAhead: number | null;
  warnings: string[];
};

const world = await openWorkerWorld();

const own = await createWorld(inject('run'), { own: ['redis', 'rabbitmq'] });
afterAll(() => own.close());

it('status counts the held deliveries, dead letters and outbox messages that a test made, and the workers that run', async () => {
  const projectId = await world.createProject();
  const { endpointId } = await world.addEndpoint(projectId, world.endpoint.url);
  await world.run('endpoint', 'pause', endpointId);
  const id = await receive(world, projectId);
  await world.run('replay', id, '--endpoint', endpointId);
  await world.sql.query(
    `insert into dead_letters (id, kind, reason, dead_at) values (gen_random_uuid(), 'delivery', 'schedule used up', now())`,
  );
  await waitFor('the held delivery', async () => {
    const { held } = jsonOf(await world.run('status', '--json')) as Status;
    return held?.['paused'] === 1;
  });

  const status = jsonOf(await world.run('status', '--json')) as Status;

  expect(status.dependencies).toEqual(
    ['postgres', 'redis', 'rabbitmq'].map((name) => ({ name, state: 'up', reason: null })),
  );
  expect(status).toMatchObject({
    deadLetters: 1,
    outbox: 0,
    spilled: 0,
    queues: { 'hqrelay.webhooks': 0, 'hqrelay.delay.1h': 0, 'hqrelay.audit': 0 },
    oldestAgeSeconds: { 'hqrelay.webhooks': 0, 'hqrelay.retries': 0, 'hqrelay.replays': 0 },
  });
  expect(status.workers).toBeGreaterThanOrEqual(1);
  expect(status.partitionsAhead).toBeGreaterThanOrEqual(3);
  for (const offset of Object.values(status.clockOffsetsMs))
    expect(Math.abs(offset as number)).toBeLessThan(10_000);
  const { stdout } = await world.run('status');
  expect(stdout).toMatch(/^Dependencies\n {2}postgres +up\n/);
  expect(stdout).toMatch(/held +delay 0, paused 1/);
  expect(stdout.trimEnd().split('\n').length).toBeLessThan(25);
});

it('status shows how long the oldest message of a work queue waits while no worker runs', async () => {
  const worker = await startApp('worker', { env: own.env });
  const redis = connectRedis(own.redisUrl, 'test');
  await redis.connect();
  await waitFor('the worker to measure its queues', async () =>
    (await readQueueAges(redis)).has('hqrelay.retries'),
  );
  redis.disconnect();
  await worker.end();
  const model = await openModel(own.rabbitmqUrl, 'test');
  const channel = await model.createConfirmChannel();
  channel.sendToQueue('hqrelay.retries', Buffer.from('a message'), { persistent: true });
  await channel.waitForConfirms();

  const status = await waitFor('the message to grow old', async () => {
    const read = jsonOf(await runCli(own.env, ['status', '--json'])) as Status;
    return (read.oldestAgeSeconds['hqrelay.retries'] ?? 0) >= 2 && read;
  });

  expect(status).toMatchObject({ queues: { 'hqrelay.retries': 1 }, workers: 0 });
  expect(status.oldestAgeSeconds).toMatchObject({ 'hqrelay.webhooks': 0, 'hqrelay.replays': 0 });
  const { stdout } = await runCli(own.env, ['status']);
  expect(stdout).toMatch(/hqrelay\.retries +1, the oldest waits for \d+ s\n/);
  await channel.purgeQueue('hqrelay.retries');
  await model.close();
});

it('status names each dependency that is down with its reason, prints the other figures, and exits 1 without a stack trace', async () => {
  const worker = await startApp('worker', { env: own.env });
  await worker.waitUntilReady();
  await own.servers.redis?.stop();
  const oneDown = await runCli(own.env, ['status', '--json']);
  const status = jsonOf(oneDown, 1) as Status;
  expect(oneDown.stderr).toBe('error: down: redis\n');
  expect(status.dependencies[1]).toMatchObject({ name: 'redis', state: 'down' });
  expect(status.dependencies[1]?.reason).toMatch(/ECONNREFUSED/);
  expect(status.oldestAgeSeconds).toMatchObject({ 'hqrelay.webhooks': 0 });
  expect(status).toMatchObject({ workers: null, outbox: 0, queues: { 'hqrelay.webhooks': 0 } });
  await worker.end();

  own.servers.rabbitmq?.freeze();
  const env = { ...own.env, CONSOLE_DATABASE_URL: 'postgres://unknown_user:hunter2hunter2@127.0.0.1:1/none' };
  const allDown = await runCli(env, ['status']);
  expect(allDown.exitCode).toBe(1);
  expect(allDown.stdout).toMatch(/postgres +DOWN: .*ECONNREFUSED/);
  expect(allDown.stdout).toMatch(/rabbitmq +DOWN: no answer within 3000 ms/);
  expect(allDown.stdout).toMatch(/held +\?/);
  expect(`${allDown.stdout}${allDown.stderr}`).not.toMatch(/hunter2|\n\s+at /);
});
