import { readFileSync } from 'node:fs';
import { decodeSpill } from '@hqrelay/audit/spill-format';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { auditQueue } from '@hqrelay/queue/topology';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { publishWebhooks, type Target } from './publish-webhooks.ts';
import { startSlowEndpoint, type SlowEndpoint } from './slow-endpoint.ts';

let world: World;
let endpoint: SlowEndpoint;
let worker: AppProcess;
let targets: Target[];

beforeEach(async () => {
  world = await createWorld(inject('run'));
  endpoint = await startSlowEndpoint();
  worker = await startApp('worker', { env: world.env });
  await worker.waitUntilReady();
});

afterEach(async () => {
  await worker.end('SIGKILL');
  await endpoint.close();
  await world.close();
});

/** Seeds endpoints at one server, because one endpoint may not have every slot of a worker. */
async function seedTargets(count: number, options: { timeoutMs: number; retry?: string }): Promise<void> {
  const project = await seedProject(world);
  targets = [];
  while (targets.length < count) {
    const { id } = await seedEndpoint(world, project.id, { url: endpoint.url, ...options });
    targets.push({ projectId: project.id, endpointId: id });
  }
}

/** The peak memory of the worker, as the kernel counts it. */
function peakMib(): number {
  const status = readFileSync(`/proc/${worker.pid()}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}

async function inFlight(): Promise<number> {
  const metrics = await (await fetch(`${worker.url}/metrics`)).text();
  return Number(/^hqrelay_deliveries_in_flight (\d+)/m.exec(metrics)?.[1]);
}

async function delivered(): Promise<number> {
  const { rows } = await world.sql.query<{ count: number }>(
    `select count(distinct delivery_id)::int as count from delivery_attempts where status = 'delivered'`,
  );
  return rows[0]?.count ?? 0;
}

/** The number of attempts in `hqrelay.audit`. They stay there. */
async function spilled(): Promise<number> {
  const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  connection.start();
  await waitFor('the connection', () => connection.health.isUp);
  let rows = 0;
  const limits = { messagesMax: 10_000, bytesMax: 1 << 30 };
  await connection.pullBatches(auditQueue, limits, async (contents) => {
    for (const content of contents) {
      const spill = decodeSpill(content);
      if (spill.kind === 'spill') rows += spill.rows.length;
    }
    return contents.map(() => false);
  });
  await connection.stop();
  return rows;
}

const isLinux = process.platform === 'linux';

describe.runIf(isLinux)('the memory of a worker', () => {
  it('a worker holds 2,000 slow deliveries of 1 KiB in under 300 MiB', async () => {
    await seedTargets(500, { timeoutMs: 120_000 });
    await publishWebhooks(world.rabbitmqUrl, targets, { count: 2_600, bytes: 1_024 });
    await waitFor('2,000 at the endpoints', () => endpoint.waiting.length >= 2_000);
    expect(await inFlight()).toBeGreaterThanOrEqual(2_000);
    await waitFor('all delivered', async () => {
      endpoint.answer();
      return (await delivered()) === 2_600;
    });
    expect(peakMib()).toBeLessThan(300);
  });

  it(
    'a worker stays under 512 MiB when every body is 1 MiB, in every lane, and every first attempt fails',
    { timeout: 300_000 },
    async () => {
      await seedTargets(20, { timeoutMs: 120_000, retry: '1s,1s,1s' });
      const lanes = [
        { lane: 'live', count: 150 },
        { lane: 'retry', count: 60 },
        { lane: 'replay', count: 60 },
      ] as const;
      for (const { lane, count } of lanes) {
        await publishWebhooks(world.rabbitmqUrl, targets, { count, lane, bytes: 1 << 20 });
      }
      // The endpoints' shares allow this many, and the large lanes hold no more: 64, 32 and 32 MiB.
      await waitFor('the bound', () => endpoint.waiting.length >= 60);
      expect(endpoint.waiting.length).toBeLessThanOrEqual(128);
      let most = 0;
      await waitFor(
        'all delivered',
        async () => {
          most = Math.max(most, endpoint.waiting.length);
          endpoint.answer(endpoint.waiting.length, (times) => (times === 1 ? 503 : 200));
          return (await delivered()) === 270;
        },
        { timeoutMs: 200_000 },
      );
      expect(most).toBeLessThanOrEqual(128);
      expect(peakMib()).toBeLessThan(512);
    },
  );

  it(
    'a worker stays under 512 MiB when an older version put 500 bodies of 1 MiB into the queue of small ones',
    { timeout: 300_000 },
    async () => {
      await seedTargets(20, { timeoutMs: 120_000 });
      await publishWebhooks(world.rabbitmqUrl, targets, { count: 500, bytes: 1 << 20, isSized: false });
      await waitFor(
        'all delivered',
        async () => {
          endpoint.answer();
          return (await delivered()) === 500;
        },
        { timeoutMs: 200_000 },
      );
      expect(endpoint.seen.requests).toBe(500);
      expect(peakMib()).toBeLessThan(512);
    },
  );
});

describe('a worker that gets SIGTERM', () => {
  it('a worker that gets SIGTERM finishes its deliveries in flight, and another one delivers the rest once', async () => {
    await seedTargets(500, { timeoutMs: 120_000 });
    const ids = await publishWebhooks(world.rabbitmqUrl, targets, { count: 2_000, bytes: 100 });
    await waitFor('2,000 in flight', () => endpoint.waiting.length === 2_000);
    // The draining worker starts none of these, and the next worker delivers them.
    ids.push(...(await publishWebhooks(world.rabbitmqUrl, targets.slice(0, 1), { count: 500, bytes: 100 })));
    const ended = worker.end('SIGTERM');
    await waitFor('it to drain', async () => (await fetch(`${worker.url}/health/ready`)).status === 503);
    endpoint.answer();
    expect(await ended).toBe(0);
    expect(endpoint.seen.requests).toBe(2_000);
    // A commit that took too long went to the audit queue, where the next worker finds it.
    expect((await delivered()) + (await spilled())).toBe(2_000);

    worker = await startApp('worker', { env: world.env });
    await waitFor('the rest', async () => {
      endpoint.answer();
      return (await delivered()) === 2_500;
    });
    expect(endpoint.seen.webhookIds.size).toBe(2_500);
    expect(endpoint.seen.requests).toBe(2_500);
    expect(ids.every((id) => endpoint.seen.webhookIds.get(id) === 1)).toBe(true);
  });

  it('a worker that gets SIGTERM aborts requests after 30 s and exits 0; the next repeats the attempts', async () => {
    await seedTargets(1, { timeoutMs: 120_000 });
    await publishWebhooks(world.rabbitmqUrl, targets, { count: 3, bytes: 100 });
    await waitFor('3 in flight', () => endpoint.waiting.length === 3);
    const startedAt = performance.now();
    const ended = worker.end('SIGTERM');
    await waitFor('it to drain', async () => (await fetch(`${worker.url}/health/ready`)).status === 503);
    expect(await inFlight()).toBe(3);
    expect(await ended).toBe(0);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(29_000);
    expect(tookMs).toBeLessThan(55_000);

    worker = await startApp('worker', { env: world.env });
    await waitFor('them again', () => endpoint.waiting.length === 3);
    endpoint.answer();
    await waitFor('all delivered', async () => (await delivered()) === 3);
    const { rows } = await world.sql.query('select attempt_num, status from delivery_attempts');
    expect(rows).toEqual([1, 2, 3].map(() => ({ attempt_num: 1, status: 'delivered' })));
  });
});
