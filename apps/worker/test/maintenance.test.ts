import type { WebhookLogRow } from '@hqrelay/db/queries/append-audit';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { createLogger } from '@hqrelay/runtime/logger';
import { encodeMessage } from '@hqrelay/queue/messages';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createWorker } from '../src/worker.ts';

const dayMs = 86_400_000;

let world: World;
const stops: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  world = await createWorld(inject('run'));
});

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

afterAll(() => world.close());

/** A worker with all its parts but the server, as `main.ts` starts it. */
async function startWorker(env: Record<string, string> = {}) {
  const clock = { aheadMs: 0 };
  const lines: Record<string, unknown>[] = [];
  const registry = createRegistry();
  const worker = createWorker(readConfig({ ...world.env, ...env }), {
    logger: createLogger(
      { name: 'worker', level: 'info' },
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    ),
    registry,
    refuse: (reason) => {
      throw new Error(reason);
    },
    now: () => Date.now() + clock.aheadMs,
    random: () => 0,
  });
  const { stores, jobs, intake, storeChecks } = worker.parts;
  for (const { start, stop } of [stores, jobs, intake, storeChecks]) {
    stops.push(stop);
    await start();
  }
  return { worker, clock, lines, registry };
}

/** Commits the rows of a webhook that was received so many days ago. */
async function accept(
  log: Pick<WebhookLogRow, 'projectId' | 'endpointIds'>,
  daysAgo: number,
): Promise<string> {
  const id = newId(Date.now() - daysAgo * dayMs);
  await ensurePartition(world.sql, timeOfId(id));
  return recordWebhook(world.sql, { id, ...log });
}

async function isPayloadStored(id: string): Promise<boolean> {
  const { rowCount } = await world.sql.query('select from webhook_payloads where id = $1', [id]);
  return rowCount === 1;
}

describe('a worker with PAYLOAD_RETENTION_DAYS', () => {
  it('payloads past PAYLOAD_RETENTION_DAYS are deleted, those of a waiting delivery once that has ended', async () => {
    const endpoint = await startRecordingEndpoint();
    stops.push(() => endpoint.close());
    const { id: projectId } = await seedProject(world);
    const { id: endpointId } = await seedEndpoint(world, projectId, { url: endpoint.url });
    const owesNothing = await accept({ projectId, endpointIds: [] }, 3);
    const waiting = await accept({ projectId, endpointIds: [endpointId] }, 3);
    const recent = await accept({ projectId, endpointIds: [] }, 1);

    const { worker, clock } = await startWorker({ PAYLOAD_RETENTION_DAYS: '2' });
    const minute = { timeoutMs: 60_000 };
    await waitFor(
      'the older payload to be deleted',
      async () => !(await isPayloadStored(owesNothing)),
      minute,
    );
    expect(await isPayloadStored(waiting)).toBe(true);
    expect(await isPayloadStored(recent)).toBe(true);

    await publishWebhook(worker.publisher, { id: waiting, projectId, endpointId });
    await endpoint.waitForRequests(1);
    await waitFor('the attempt', async () => {
      const sql = 'select from delivery_attempts where delivery_id = $1';
      return (await world.sql.query(sql, [deliveryId(waiting, endpointId)])).rowCount === 1;
    });
    clock.aheadMs += 3_600_000;
    await waitFor('the next hour’s run', async () => !(await isPayloadStored(waiting)), minute);
    expect(await isPayloadStored(recent)).toBe(true);
    const facts = await world.sql.query('select from webhook_logs where project_id = $1', [projectId]);
    expect(facts.rowCount).toBe(3);
  });
});

describe('hqrelay_partitions_ahead', () => {
  it('hqrelay_partitions_ahead falls when a coming month lacks a partition, and readiness and log warn', async () => {
    // The third month from now loses one of its four tables, and the worker may not make that table again.
    const month = new Date();
    month.setUTCMonth(month.getUTCMonth() + 3, 1);
    const suffix = month.toISOString().slice(0, 7).replace('-', '_');
    await world.sql.query(`drop table replays_${suffix}`);
    await world.sql.query(
      'revoke execute on function hqrelay_ensure_partition(timestamptz) from hqrelay_worker',
    );

    const warned = await startWorker();
    await waitFor('the warning', () => warned.worker.health.warnings().length > 0);
    const warning = '2 of the next 3 months have partitions: see whether the job makePartitions fails';
    expect(warned.worker.health.warnings()).toEqual([{ dependency: 'postgres', warning }]);
    expect(warned.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'dependency.badly_set_up', warning }),
    );
    expect(await warned.registry.metrics()).toMatch(/^hqrelay_partitions_ahead 2$/m);

    await world.sql.query(
      'grant execute on function hqrelay_ensure_partition(timestamptz) to hqrelay_worker',
    );
    await waitFor('Postgres', () => warned.worker.postgres.health.isUp);
    expect(await warned.worker.jobs.makePartitions.run()).toBeGreaterThan(0);
    const healthy = await startWorker();
    await waitFor('the gauge', async () =>
      /^hqrelay_partitions_ahead 4$/m.test(await healthy.registry.metrics()),
    );
    expect(healthy.worker.health.warnings()).toEqual([]);
  });
});

async function publishWebhook(
  publisher: Awaited<ReturnType<typeof startWorker>>['worker']['publisher'],
  { id, projectId, endpointId }: { id: string; projectId: string; endpointId: string },
): Promise<void> {
  const envelope = {
    v: 1 as const,
    id,
    projectId,
    eventType: null,
    correlationId: 'test',
    endpointIds: [endpointId],
    headers: [],
  };
  const body = encodeMessage({ envelope, body: Buffer.from('{}') });
  await waitFor('the broker to confirm', async () => {
    const result = await publisher.publish({
      exchange: 'hqrelay.work',
      routingKey: 'hqrelay.webhooks',
      body,
    });
    return result.kind === 'confirmed';
  });
}
