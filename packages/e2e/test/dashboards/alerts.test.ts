import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp } from '@hqrelay/services/app-process';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type HowToAnswer } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendHanging } from './observed-load.ts';
import { openPrometheusWorld, type PrometheusWorld } from './prometheus-world.ts';

/** A minute of the rules becomes a second, and the ages that alert become seconds. The conditions stay. */
function shorten(rules: string): string {
  return rules
    .replaceAll(/\b(\d+)m\b/g, '$1s')
    .replaceAll('[1h]', '[60s]')
    .replaceAll(':15s]', ':1s]')
    .replace('} > 60', '} > 2')
    .replace('} > 900', '} > 15');
}

const minute = { timeoutMs: 120_000, everyMs: 250 };
let world: PrometheusWorld;
const closes: (() => Promise<void> | void)[] = [];

async function isFiring(name: string): Promise<boolean> {
  const alerts = await world.alerts();
  return alerts.some(({ labels, state }) => labels['alertname'] === name && state === 'firing');
}

const fires = (name: string) => waitFor(`${name} to fire`, () => isFiring(name), minute);
const clears = (name: string) => waitFor(`${name} to clear`, async () => !(await isFiring(name)), minute);

async function openProject(
  how: HowToAnswer,
  options: Parameters<typeof seedProject>[1] = {},
): Promise<SeededProject> {
  const endpoint = await startRecordingEndpoint();
  closes.push(endpoint.close);
  endpoint.answerWith(how);
  const project = await seedProject(world, options);
  await seedEndpoint(world, project.id, { url: endpoint.url, retry: '1s' });
  return project;
}

function send(project: SeededProject, count: number, headers: Record<string, string> = {}) {
  const post = (_: unknown, index: number) =>
    postWebhook(world.receiver.url, project, { webhookId: `evt_${Date.now()}_${index}`, headers });
  return Promise.all(Array.from({ length: count }, post));
}

beforeAll(async () => {
  world = await openPrometheusWorld(shorten, ['redis', 'postgres']);
}, 180_000);

afterAll(async () => {
  for (const close of closes) await close();
  await world?.close();
});

describe('a system that is well', () => {
  it('no alert fires on a system that is well', async () => {
    // While Prometheus starts, a process that it did not scrape for two seconds is missing.
    const quiet = await waitFor(
      'every process to be scraped',
      async () => {
        const [up] = await world.query('sum(up)');
        const alerts = await world.alerts();
        return up?.value === 5 && !alerts.some(({ state }) => state === 'firing') && alerts;
      },
      minute,
    );
    expect(quiet.filter(({ state }) => state === 'firing')).toEqual([]);
  }, 150_000);
});

describe.concurrent('alerts about webhooks fire on a running system and clear', () => {
  it('DeadLettersRising and DeliveriesFailing: an endpoint refuses webhooks', async () => {
    await send(await openProject({ statusCode: 400 }), 40);
    await Promise.all([fires('DeadLettersRising'), fires('DeliveriesFailing')]);
    await Promise.all([clears('DeadLettersRising'), clears('DeliveriesFailing')]);
  }, 240_000);

  it('RejectedRequestsJump: a provider signs with another secret', async () => {
    await send(await openProject({}), 40, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` });
    await fires('RejectedRequestsJump');
    await clears('RejectedRequestsJump');
  }, 240_000);

  it('OldestMessageTooOld: webhooks wait behind endpoints that do not answer', async () => {
    const { close } = await sendHanging(world);
    await fires('OldestMessageTooOld');
    await close();
    await clears('OldestMessageTooOld');
  }, 240_000);

  it('ProjectNearLimit: a project uses 90 % of its rate limit', async () => {
    await send(await openProject({}, { rateLimitPerMinute: 10 }), 9);
    await fires('ProjectNearLimit');
    await clears('ProjectNearLimit');
  }, 240_000);

  it('PartitionsMissing: a coming month has no partition', async () => {
    const month = new Date();
    month.setUTCMonth(month.getUTCMonth() + 3, 1);
    const suffix = month.toISOString().slice(0, 7).replace('-', '_');
    await world.sql.query(`drop table replays_${suffix}`);
    await fires('PartitionsMissing');
    await world.sql.query('select hqrelay_ensure_partition($1)', [month]);
    await clears('PartitionsMissing');
  }, 300_000);
});

describe('alerts about processes and stores fire on a running system and clear', () => {
  it('ClocksApart: the clock of a worker is three seconds behind', async () => {
    const folder = makeThrowAwayFolder('hqrelay-clock-', inject('run').folder);
    closes.push(() => removeThrowAwayFolder(folder));
    const clock = join(folder, 'clock.mjs');
    writeFileSync(clock, 'const now = Date.now.bind(Date);\nDate.now = () => now() - 3_000;\n');
    const [, worker] = world.workers;
    await worker?.end('SIGTERM');
    const late = await createApp({
      app: 'worker',
      from: { kind: 'source' },
      env: { ...world.env, RABBITMQ_URL: world.broker.url },
      port: worker?.port ?? 0,
      preload: [clock],
      parentDeathSignal: 'SIGKILL',
      onLine: () => {},
    });
    late.start();
    await fires('ClocksApart');
    await late.end('SIGTERM');
    worker?.start();
    await clears('ClocksApart');
  }, 300_000);

  it('BrokerAlarm and OutboxNotDraining: RabbitMQ is short of memory', async () => {
    const project = await openProject({});
    await world.broker.rabbitmqctl('set_vm_memory_high_watermark', '0.00001');
    await fires('BrokerAlarm');
    const answers = await send(project, 5);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 202));
    await fires('OutboxNotDraining');
    await world.broker.rabbitmqctl('set_vm_memory_high_watermark', '0.6');
    await Promise.all([clears('BrokerAlarm'), clears('OutboxNotDraining')]);
  }, 240_000);

  it('DependencyDown, AuditSpillNotDraining, WebhooksRefused and ScrapeMissing: Postgres and then RabbitMQ stop', async () => {
    const project = await openProject({});
    await send(project, 1);
    await world.servers.postgres?.stop();
    await fires('DependencyDown');
    await send(project, 5);
    await fires('AuditSpillNotDraining');
    await world.broker.stop();
    const answers = await send(project, 5);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 503));
    await Promise.all([fires('WebhooksRefused'), fires('ScrapeMissing')]);
    await Promise.all([world.servers.postgres?.start(), world.broker.start()]);
    const alerts = ['DependencyDown', 'AuditSpillNotDraining', 'WebhooksRefused', 'ScrapeMissing'];
    await Promise.all(alerts.map(clears));
  }, 300_000);
});
