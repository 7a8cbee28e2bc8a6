import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createApp, repositoryRoot } from '@hqrelay/services/app-process';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { postWebhook } from '@hqrelay/testing/provider';
import { startRecordingEndpoint, type HowToAnswer } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sendHanging } from './observed-load.ts';
import { openPrometheusWorld, type PrometheusWorld } from './prometheus-world.ts';

/** Shortens a minute of the rules to a second, and the ages that alert to seconds. The conditions stay. */
function shorten(rules: string): string {
  const shorter = [
    [/\b(\d+)m\b/g, '$1s'],
    [/\[1h\]/g, '[60s]'],
    [/:15s\]/g, ':1s]'],
    [/"\}\) > 60\b/g, '"}) > 2'],
    [/"\}\) > 900\b/g, '"}) > 15'],
    [/seconds\) > 3600\b/g, 'seconds) > 2'],
  ] as const;
  return shorter.reduce((text, [pattern, by]) => {
    if (text.search(pattern) === -1) throw new Error(`the rules have no ${pattern.source}`);
    return text.replaceAll(pattern, by);
  }, rules);
}

/** A worker checks clocks and partitions every minute: with this module it does so every second. */
const frequentChecks = `
const { setTimeout: later } = globalThis;
globalThis.setTimeout = (run, ms, ...args) => later(run, ms === 60_000 ? 1_000 : ms, ...args);
`;

/** An alert is one of many, and a busy machine delays scrapes. */
const patiently = { timeoutMs: 180_000, everyMs: 250 };
let folder: string;
/** The path of the module with `frequentChecks`. */
let frequent: string;
let world: PrometheusWorld;
const closes: (() => Promise<void> | void)[] = [];

/** Whether the alert fires, for this job where one is given. */
async function isFiring(name: string, job?: string): Promise<boolean> {
  const firing = (await world.alerts()).filter(({ state }) => state === 'firing');
  return firing.some(
    ({ labels }) => labels['alertname'] === name && (job === undefined || labels['job'] === job),
  );
}

const fired = new Set<string>();

/** Fails with the state of the alerts and the queues. */
async function fires(name: string, job?: string): Promise<void> {
  fired.add(name);
  try {
    await waitFor(`${name} to fire`, () => isFiring(name, job), patiently);
  } catch (error) {
    const queues = await world.query('{__name__=~"hqrelay_queue_.*"} > 0');
    const state = JSON.stringify([await world.alerts(), queues]);
    throw new Error(`${(error as Error).message}: ${state}`, { cause: error });
  }
}

/** Does `act` again until the alerts have fired: scrapes that a busy machine delays may miss what happened between them. */
async function firesAfter(act: () => Promise<unknown>, ...names: string[]): Promise<void> {
  const missing = new Set(names);
  const firing = Promise.all(names.map((name) => fires(name).then(() => missing.delete(name))));
  for (;;) {
    await act();
    await Promise.race([firing, wait(20_000)]);
    if (missing.size === 0) return;
  }
}

const clears = (name: string, job?: string) =>
  waitFor(`${name} to clear`, async () => !(await isFiring(name, job)), patiently);

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

/** The path of a module that a worker loads first. */
function preload(name: string, source: string): string {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, source);
  return path;
}

beforeAll(async () => {
  folder = makeThrowAwayFolder('hqrelay-preload-', inject('run').folder);
  frequent = preload('frequent-checks', frequentChecks);
  world = await openPrometheusWorld({
    own: ['redis', 'postgres'],
    shorten,
    preload: [frequent],
  });
});

afterAll(async () => {
  for (const close of closes) await close();
  await world?.close();
  removeThrowAwayFolder(folder);
});

describe('a system that is well', () => {
  it('no alert fires on a system that is well', async () => {
    // Longer than the longest window and the longest `for`: what can fire has fired by then, and what fired at the start is over.
    const period = '[16s:500ms]';
    await waitFor(
      'a period in which every process is scraped and has its stores, without an alert',
      async () => {
        const at = Date.now();
        const [scraped] = await world.query(`min_over_time(sum(up)${period})`, at);
        const [samples] = await world.query(`count_over_time(sum(up)${period})`, at);
        const [stores] = await world.query(`min_over_time(min(hqrelay_dependency_up)${period})`, at);
        const isWell = scraped?.value === 5 && (samples?.value ?? 0) >= 31 && stores?.value === 1;
        if (!isWell) return false;
        const alerts = await world.query(`count_over_time(ALERTS${period})`, at);
        if (alerts.length > 0) throw new Error(JSON.stringify(alerts));
        return true;
      },
      patiently,
    );
  });
});

describe.concurrent('alerts about webhooks fire on a running system and clear', () => {
  it('DeadLettersRising and DeliveriesFailing: an endpoint refuses webhooks', async () => {
    const project = await openProject({ statusCode: 400 });
    await firesAfter(() => send(project, 40), 'DeadLettersRising', 'DeliveriesFailing');
    await Promise.all([clears('DeadLettersRising'), clears('DeliveriesFailing')]);
  });

  it('RejectedRequestsJump: a provider signs with another secret', async () => {
    const project = await openProject({});
    const headers = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
    await firesAfter(() => send(project, 40, headers), 'RejectedRequestsJump');
    await clears('RejectedRequestsJump');
  });

  it('OldestMessageTooOld: webhooks wait behind endpoints that do not answer', async () => {
    const { close } = await sendHanging(world);
    await fires('OldestMessageTooOld');
    await close();
    await clears('OldestMessageTooOld');
  });

  it('ProjectNearLimit: a project uses 80 % of its rate limit', async () => {
    const project = await openProject({}, { rateLimitPerMinute: 10 });
    const redis = new Redis(world.redisUrl);
    // A request that Redis does not answer in time is admitted without being counted.
    const comeNear = () =>
      waitFor('the project to be near its limit', async () => {
        await send(project, 1);
        return (await redis.zcard('hqrelay:nearLimit')) > 0;
      });
    await firesAfter(comeNear, 'ProjectNearLimit');
    // As after a minute, when the webhooks have left the window.
    await redis.del('hqrelay:nearLimit');
    redis.disconnect();
    await clears('ProjectNearLimit');
  });

  it('OrderedKeysHeld: a webhook waits behind an earlier one of its key that fails', async () => {
    const endpoint = await startRecordingEndpoint();
    closes.push(endpoint.close);
    endpoint.answerWith({ statusCode: 503 });
    const project = await seedProject(world);
    const retry = Array.from({ length: 30 }, () => '5s').join(',');
    await seedEndpoint(world, project.id, { url: endpoint.url, retry, orderingKey: '/key' });
    for (const webhookId of ['evt_1', 'evt_2'])
      await postWebhook(world.receiver.url, project, {
        webhookId,
        body: JSON.stringify({ key: 'a', webhookId }),
      });
    await fires('OrderedKeysHeld');
    endpoint.answerWith({});
    await clears('OrderedKeysHeld');
  });

  it('PartitionsMissing: a coming month has no partition', async () => {
    // Again and again: a worker makes missing partitions every ten minutes, and another month may begin meanwhile.
    const drop = () =>
      world.sql.query(`do $$ begin
        execute 'drop table if exists replays_' || to_char(now() at time zone 'UTC' + interval '2 months', 'YYYY_MM');
      end $$`);
    await firesAfter(drop, 'PartitionsMissing');
    await world.sql.query(
      'select hqrelay_ensure_partition(now() + make_interval(months => n)) from generate_series(0, 4) as n',
    );
    await clears('PartitionsMissing');
  });
});

// Not a concurrent suite: Vitest would run it at the same time as the one before.
describe('alerts about a clock, the console and the broker fire on a running system and clear', () => {
  it.concurrent('ClocksApart: the clock of a worker is three seconds behind', async () => {
    const clock = preload('clock', 'const now = Date.now.bind(Date);\nDate.now = () => now() - 3_000;\n');
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
  });

  it.concurrent('ScrapeMissing: the console has ended', async () => {
    await world.console.end();
    await fires('ScrapeMissing', 'hqrelay-console');
    world.console.start();
    await clears('ScrapeMissing', 'hqrelay-console');
  });

  it.concurrent('BrokerAlarm and OutboxNotDraining: RabbitMQ is short of memory', async () => {
    const project = await openProject({});
    await world.broker.rabbitmqctl('set_vm_memory_high_watermark', '0.00001');
    await fires('BrokerAlarm');
    const answers = await send(project, 5);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 202));
    await fires('OutboxNotDraining');
    await world.broker.rabbitmqctl('set_vm_memory_high_watermark', '0.6');
    await Promise.all([clears('BrokerAlarm'), clears('OutboxNotDraining')]);
  });
});

describe('alerts about stores fire on a running system and clear', () => {
  it('DependencyDown, AuditSpillNotDraining, WebhooksRefused and ScrapeMissing: Postgres and then RabbitMQ stop', async () => {
    const project = await openProject({});
    await send(project, 1);
    await world.servers.postgres?.stop();
    await fires('DependencyDown');
    await firesAfter(() => send(project, 5), 'AuditSpillNotDraining');
    await world.broker.stop();
    const refuse = async () => {
      const answers = await send(project, 5);
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 503));
    };
    await Promise.all([firesAfter(refuse, 'WebhooksRefused'), fires('ScrapeMissing', 'rabbitmq')]);
    await Promise.all([world.servers.postgres?.start(), world.broker.start()]);
    const alerts = ['DependencyDown', 'AuditSpillNotDraining', 'WebhooksRefused', 'ScrapeMissing'];
    await Promise.all(alerts.map((alert) => clears(alert)));
  });
});

it('ProjectsSilent and AlertChannelsBroken: a project receives nothing, and a rule cannot send', async () => {
  const project = await openProject({});
  await world.sql.query(
    `insert into received_statistics (project_id, bucket_at, status, requests)
     select $1, date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC' - hour * interval '1 hour' - week * interval '168 hours',
       'queued', 20
     from generate_series(0, 2) as hour cross join generate_series(1, 4) as week`,
    [project.id],
  );
  await world.sql.query(
    `insert into alert_rules (id, project_id, kinds, channel, target, window_ms, failures)
     values (gen_random_uuid(), $1, '{dead_letter}', 'email', 'ops@shop.example', 900000, 3)`,
    [project.id],
  );
  await Promise.all([fires('ProjectsSilent'), fires('AlertChannelsBroken')]);
  await send(project, 1);
  await world.sql.query('update alert_rules set failures = 0');
  await Promise.all([clears('ProjectsSilent'), clears('AlertChannelsBroken')]);
});

it('the tests before caused every alert of the rules', () => {
  const names = [
    ...readFileSync(join(repositoryRoot, 'deploy/prometheus/alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g),
  ].map(([, name]) => String(name));
  expect([...fired].toSorted()).toEqual(names.toSorted());
});
