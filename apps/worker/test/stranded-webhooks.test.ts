import type { WebhookLogRow } from '@hqrelay/db/queries/append-audit';
import { insertOutbox } from '@hqrelay/db/queries/outbox';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { auditQueue } from '@hqrelay/queue/topology';
import { holdWebhook, recordWebhook } from '@hqrelay/testing/database/record-webhook';
import type { RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startAnotherWorker } from './another-worker.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();
let projectId: string;
let endpointId: string;
let requests: RecordingEndpoint['requests'];

beforeAll(async () => {
  // The job's first look at the queues.
  await world.jobs.putBackStranded.run(running);
});

beforeEach(async () => {
  const seeded = await world.seed({ retry: '1s' });
  projectId = seeded.projectId;
  endpointId = seeded.endpoints[0]!.id;
  requests = seeded.endpoints[0]!.endpoint.requests;
});

/** Removes the messages of a test, and lets the next search begin after its webhooks. */
afterEach(async () => {
  await world.sql.query('delete from outbox');
  await world.sql.query('update stranded_search set last_id = $1', [newId(world.now())]);
  world.clock.aheadMs += 1;
  await waitFor('the queues to be empty', async () => (await world.depthOf('hqrelay.webhooks')) === 0);
});

const running = new AbortController().signal;
const minuteMs = 61_000;

/** Commits the rows of a webhook as a receiver does, and nothing else. */
const record = (log: Partial<WebhookLogRow> = {}): Promise<string> =>
  recordWebhook(world.sql, { id: newId(world.now()), projectId, endpointIds: [endpointId], ...log });

/** Runs the job now and again a minute later. Returns how many webhooks the second run put back. */
async function putBackAfterAMinute(jobs = world.jobs): Promise<number> {
  world.clock.aheadMs += 1;
  await jobs.putBackStranded.run(running);
  world.clock.aheadMs += minuteMs;
  return jobs.putBackStranded.run(running);
}

describe('a recorded webhook without a message', () => {
  it('a recorded webhook without a message is delivered once after a minute, without a provider retry', async () => {
    const id = await record();
    expect(await putBackAfterAMinute()).toBe(1);
    await world.jobs.drainOutbox.run(running);
    await world.waitForAttempts(id, 1);
    expect(requests).toMatchObject([{ headers: { 'webhook-id': id, 'x-hqrelay-attempt': '1' } }]);
    expect(world.logs).toContainEqual(expect.objectContaining({ msg: 'webhook.put_back', id }));
    expect(await putBackAfterAMinute()).toBe(0);
  });

  it('a recorded webhook without a message is put back once by two workers', async () => {
    const another = await startAnotherWorker(world);
    await record();
    world.clock.aheadMs += 1;
    const both = [world.jobs, another.jobs];
    for (const jobs of both) await jobs.putBackStranded.run(running);
    world.clock.aheadMs += minuteMs;
    const putBack = await Promise.all(both.map((jobs) => jobs.putBackStranded.run(running)));
    expect(putBack.toSorted((a, b) => a - b)).toEqual([0, 1]);
    await another.close();
  });

  it('recorded webhooks without a message are put back a hundred at a time, all of them in the end', async () => {
    const ids = await Promise.all(Array.from({ length: 120 }, () => record()));
    expect(await putBackAfterAMinute()).toBe(100);
    // The next hundred wait until the outbox and the work queues are empty.
    expect(await world.jobs.putBackStranded.run(running)).toBe(0);
    await world.jobs.drainOutbox.run(running);
    for (const id of ids.toSorted().slice(0, 100)) await world.waitForAttempts(id, 1);
    await waitFor('the rest', async () => (await world.jobs.putBackStranded.run(running)) === 20);
  });
});

describe('a webhook that is not put back', () => {
  it('a webhook is not put back within a minute of its receipt', async () => {
    await record();
    world.clock.aheadMs += 1;
    await world.jobs.putBackStranded.run(running);
    world.clock.aheadMs += 58_000;
    expect(await world.jobs.putBackStranded.run(running)).toBe(0);
  });

  it('a webhook that has an attempt, is held, is a dead letter, or owes nothing is not put back', async () => {
    const attempted = await record();
    await world.send(world.message(projectId, { id: attempted, endpointIds: [endpointId] }));
    await world.waitForAttempts(attempted, 1);
    await hold(await record());
    await deadLetter(await record());
    await record({ endpointIds: [] });
    await record({ status: 'duplicate' });
    expect(await putBackAfterAMinute()).toBe(0);
  });

  it('a webhook is not put back while its message is in the outbox', async () => {
    const id = await record();
    const message = world.message(projectId, { id, endpointIds: [endpointId] });
    await insertOutbox(world.postgres.pool, {
      id,
      exchange: 'hqrelay.work',
      routingKey: 'hqrelay.webhooks',
      message,
    });
    expect(await putBackAfterAMinute()).toBe(0);
    await world.jobs.drainOutbox.run(running);
    await world.waitForAttempts(id, 1);
    expect(await putBackAfterAMinute()).toBe(0);
  });

  it('a webhook is not put back while spilled audit rows wait, because one may be its attempt', async () => {
    await record();
    await world.publisher.publish({ exchange: '', routingKey: auditQueue, body: Buffer.from('no spill') });
    await waitFor('the row in its queue', async () => (await world.depthOf(auditQueue)) === 1);
    expect(await putBackAfterAMinute()).toBe(0);
    await world.jobs.drainSpilledAudit.run(running);
    await waitFor('the queue to be empty', async () => (await world.depthOf(auditQueue)) === 0);
    expect(await putBackAfterAMinute()).toBe(1);
  });
});

describe('a backlog', () => {
  it('webhooks that wait in a work queue are not put back, however long they wait', async () => {
    await world.worker.consuming.stop();
    const ids = await Promise.all(Array.from({ length: 20 }, () => record()));
    for (const id of ids) await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    await waitFor('the backlog', async () => (await world.depthOf('hqrelay.webhooks')) === 20);
    for (let minutes = 0; minutes < 5; minutes += 1) expect(await putBackAfterAMinute()).toBe(0);
    expect((await world.sql.query('select from outbox')).rows).toEqual([]);
    const another = await startAnotherWorker(world);
    for (const id of ids) expect(await world.waitForAttempts(id, 1)).toHaveLength(1);
    await another.close();
  });
});

async function hold(id: string): Promise<void> {
  const message = world.message(projectId, { id });
  const held = { webhookLogId: id, endpointId, reason: 'paused' as const, dueAt: world.now(), message };
  await holdWebhook(world.sql, held, world.now());
}

async function deadLetter(id: string): Promise<void> {
  await world.sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     values ($1, 'delivery', 'test', $2, $3, $4, now())`,
    [deliveryId(id, endpointId), projectId, id, endpointId],
  );
}
