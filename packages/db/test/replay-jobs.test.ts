import { appendAudit } from '../src/queries/append-audit.ts';
import { insertDeadLetters, listDeadLetters } from '../src/queries/dead-letters.ts';
import { holdDeliveries } from '../src/queries/held-deliveries.ts';
import { cancelReplayJob, insertReplayJob, readReplayJob } from '../src/queries/replay-jobs.ts';
import type { ReplaySelection } from '../src/queries/replay-selection.ts';
import type { EncodeReplay } from '../src/queries/replays.ts';
import { countReplayable, runReplayBatch } from '../src/queries/run-replay-batch.ts';
import { inTransaction } from '../src/in-transaction.ts';
import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';

const { world, app } = await openWorld();
let projectId: string;
let endpointId: string;

const url = 'http://127.0.0.1:9/';

beforeEach(async () => {
  ({ id: projectId } = await seedProject(world));
  ({ id: endpointId } = await seedEndpoint(world, projectId, { url, eventTypes: ['payment.*'] }));
});

afterEach(() => world.sql.query('delete from held_deliveries; delete from dead_letters'));

const now = Date.now();
const hourMs = 3_600_000;
const encode: EncodeReplay = (webhook, { replayId }) => Buffer.from(`${webhook.id} ${replayId}`);

type Received = Parameters<typeof webhookRow>[0] & { ageMs?: number; bytes?: number; hasPayload?: boolean };

/** A webhook that owes the endpoint, unless a test says otherwise. */
async function receive({ ageMs = 60_000, bytes = 2, hasPayload = true, ...log }: Received = {}) {
  const row = webhookRow(
    { id: newId(now - ageMs), projectId, endpointIds: [endpointId], ...log },
    hasPayload ? { payload: Buffer.alloc(bytes, 'x') } : null,
  );
  await appendAudit(app, [row]);
  return row.log;
}

/** A webhook whose delivery is dead since `deadForMs`. */
async function die({
  deadForMs = 1_000,
  to = endpointId,
  ...received
}: Received & { deadForMs?: number; to?: string } = {}) {
  const log = await receive({ endpointIds: [to], ...received });
  const letter = {
    id: deliveryId(log.id, to),
    kind: 'delivery' as const,
    reason: 'HTTP 500 at attempt 6, the last',
    projectId,
    webhookLogId: log.id,
    endpointId: to,
    content: null,
  };
  await insertDeadLetters(app, [letter], now - deadForMs);
  return { log, letter };
}

const deadLetters = (): ReplaySelection => ({ kind: 'dead_letters', projectId, until: now + 5_000 });
const webhooks = (missing: boolean): ReplaySelection => ({
  kind: 'webhooks',
  endpointId,
  since: now - 24 * hourMs,
  until: now,
  missing,
});

async function createJob(selection: ReplaySelection, ratePerSecond = 2_000): Promise<string> {
  const job = { projectId, selection, ratePerSecond, requestedBy: 'test', count: 0, countCapped: false };
  const { id } = await inTransaction(app, (client) =>
    insertReplayJob(client, { id: freshId(), ...job }, now),
  );
  return id;
}

const batch = (jobId: string, at = now, how = encode) => runReplayBatch(app, jobId, { now: at, encode: how });

/** Runs a job to its end as workers do, the clock a second further each time that it waits. Returns the sizes of its batches. */
async function runToEnd(jobId: string): Promise<number[]> {
  const sizes: number[] = [];
  for (let at = now; ; at += 1_000) {
    for (;;) {
      const { kind, replayed } = await batch(jobId, at);
      if (replayed > 0) sizes.push(replayed);
      if (kind === 'ended') return sizes;
      if (kind === 'waits') break;
    }
  }
}

async function held() {
  const { rows } = await app.query<{
    delivery_id: string;
    webhook_log_id: string;
    due_at: Date;
    message: Buffer;
  }>(`select * from held_deliveries where queue = 'hqrelay.replays' order by due_at, webhook_log_id`);
  return rows;
}

const heldWebhooks = async () => (await held()).map((row) => row.webhook_log_id);
const openCount = async () =>
  (await listDeadLetters(app, { filter: { projectId }, all: false, limit: 1_000 })).total;

describe('a replay job of dead letters', () => {
  it('a job makes a row and a held message for each dead letter, marks the dead letter, and finishes', async () => {
    const { log, letter } = await die();
    const jobId = await createJob({ kind: 'dead_letter_ids', ids: [letter.id] });
    expect(await batch(jobId)).toEqual({ kind: 'ended', replayed: 1 });
    const { rows } = await app.query('select * from replays where job_id = $1', [jobId]);
    expect(rows).toMatchObject([
      { webhook_log_id: log.id, endpoint_id: endpointId, requested_by: 'test', requested_at: new Date(now) },
    ]);
    const replayId = (rows[0] as { id: string }).id;
    expect(timeOfId(replayId)).toBe(now);
    expect(await held()).toMatchObject([
      {
        delivery_id: deliveryId(log.id, endpointId, replayId),
        webhook_log_id: log.id,
        reason: 'delay',
        due_at: new Date(now),
        message: Buffer.from(`${log.id} ${replayId}`),
      },
    ]);
    const { deadLetters: listed } = await listDeadLetters(app, { filter: {}, all: true, limit: 10 });
    expect(listed).toMatchObject([{ replayId, replayedAt: new Date(now) }]);
    expect(await readReplayJob(app, jobId)).toMatchObject({
      state: 'finished',
      replayed: 1,
      notReplayed: {},
      endedAt: new Date(now),
    });
  });

  it('a job spaces its replays at its rate over many batches, the oldest dead letter first', async () => {
    const died = [];
    for (let count = 0; count < 9; count += 1) died.push(await die({ deadForMs: 9_000 - count }));
    expect(await runToEnd(await createJob(deadLetters(), 2))).toEqual([4, 2, 2, 1]);
    const rows = await held();
    expect(rows.map((row) => row.webhook_log_id)).toEqual(died.map(({ log }) => log.id));
    expect(rows.map((row) => row.due_at.getTime() - now)).toEqual(died.map((_, index) => index * 500));
  });

  it('a batch keeps the payloads in memory within its bound', async () => {
    for (let count = 0; count < 5; count += 1) await die({ bytes: 3 << 20, deadForMs: 9_000 - count });
    expect(await runToEnd(await createJob(deadLetters()))).toEqual([2, 2, 1]);
    expect(new Set(await heldWebhooks()).size).toBe(5);
  });

  it('a job that two workers run at the same time replays each dead letter once', async () => {
    for (let count = 0; count < 30; count += 1) await die({ deadForMs: 9_000 - count });
    const jobId = await createJob(deadLetters(), 20);
    await Promise.all([runToEnd(jobId), runToEnd(jobId), runToEnd(jobId)]);
    expect(await held()).toHaveLength(30);
    expect(new Set(await heldWebhooks()).size).toBe(30);
    expect(await readReplayJob(app, jobId)).toMatchObject({ state: 'finished', replayed: 30 });
  });

  it('a batch that fails changes nothing, and another worker continues the job without repeating or losing a replay', async () => {
    for (let count = 0; count < 4; count += 1) await die({ bytes: 5 << 20, deadForMs: 9_000 - count });
    const jobId = await createJob(deadLetters());
    await batch(jobId);
    const dying: EncodeReplay = () => {
      throw new Error('killed');
    };
    await expect(batch(jobId, now, dying)).rejects.toThrow('killed');
    expect(await openCount()).toBe(3);
    expect(await readReplayJob(app, jobId)).toMatchObject({ state: 'running', replayed: 1 });
    await runToEnd(jobId);
    expect(await openCount()).toBe(0);
    expect(new Set(await heldWebhooks()).size).toBe(4);
    expect(await held()).toHaveLength(4);
  });

  it('a cancelled job makes no further replay', async () => {
    for (let count = 0; count < 9; count += 1) await die({ deadForMs: 9_000 - count });
    const jobId = await createJob(deadLetters(), 2);
    await batch(jobId);
    const cancelled = await inTransaction(app, (client) => cancelReplayJob(client, jobId));
    expect(cancelled).toMatchObject({ state: 'cancelled', replayed: 4 });
    expect(await batch(jobId, now + 60_000)).toEqual({ kind: 'ended', replayed: 0 });
    expect(await held()).toHaveLength(4);
    expect(await inTransaction(app, (client) => cancelReplayJob(client, jobId))).toBeNull();
  });

  it('a job counts dead letters without a payload, row or endpoint by reason, and replays the others', async () => {
    const fine = await die();
    await die({ hasPayload: false });
    await die({ to: freshId() });
    const archived = await seedEndpoint(world, projectId, { url });
    await die({ to: archived.id });
    await app.query('update endpoints set enabled = false, archived_at = now() where id = $1', [archived.id]);
    await insertDeadLetters(app, [{ ...fine.letter, id: freshId(), webhookLogId: freshId() }], now - 500);
    const notReplayed = { payload_dropped: 1, not_recorded: 1, no_endpoint: 1, endpoint_archived: 1 };
    const limit = { countMax: 100, withinMs: 10_000 };
    expect(await countReplayable(app, deadLetters(), limit)).toEqual({
      count: 1,
      capped: false,
      notReplayed,
    });
    const jobId = await createJob(deadLetters());
    await runToEnd(jobId);
    expect(await heldWebhooks()).toEqual([fine.log.id]);
    expect(await readReplayJob(app, jobId)).toMatchObject({ replayed: 1, notReplayed });
    expect(await openCount()).toBe(4);
  });

  it('a job takes the dead letters of a project, an endpoint and a period, and only those of deliveries', async () => {
    const other = await seedEndpoint(world, projectId, { url });
    const old = await die({ deadForMs: hourMs });
    const recent = await die();
    await die({ to: other.id });
    const bytes = { id: freshId(), kind: 'message' as const, content: Buffer.from('?') };
    await insertDeadLetters(app, [{ ...recent.letter, ...bytes }], now);
    const countOf = async (filter: object) => {
      const selection = { kind: 'dead_letters' as const, projectId, until: now + 5_000, ...filter };
      return (await countReplayable(app, selection, { countMax: 100, withinMs: 10_000 })).count;
    };
    expect(await countOf({})).toBe(3);
    expect(await countOf({ endpointId: other.id })).toBe(1);
    expect(await countOf({ since: now - 60_000 })).toBe(2);
    expect(await countOf({ until: now - 60_000 })).toBe(1);
    expect(await countOf({ projectId: freshId() })).toBe(0);
    await runToEnd(await createJob({ kind: 'dead_letters', endpointId, until: now - 60_000 }));
    expect(await heldWebhooks()).toEqual([old.log.id]);
  });

  it('a job replays a webhook to an endpoint once, however many dead letters the two have', async () => {
    const { log, letter } = await die();
    await insertDeadLetters(app, [{ ...letter, id: deliveryId(log.id, endpointId, freshId()) }], now - 500);
    const jobId = await createJob(deadLetters());
    await runToEnd(jobId);
    expect(await heldWebhooks()).toEqual([log.id]);
    expect(await openCount()).toBe(0);
  });
});

describe('a replay job of webhooks', () => {
  /** One webhook of each fate, the oldest first. */
  async function receiveAll() {
    const at = (minutes: number) => ({ ageMs: minutes * 60_000 });
    const delivered = await receive(at(10));
    await appendAudit(app, [attemptRow(delivered, { status: 'delivered', statusCode: 200 })]);
    const waiting = await receive(at(9));
    const paused = await receive(at(8));
    const hold = {
      deliveryId: deliveryId(paused.id, endpointId),
      webhookLogId: paused.id,
      endpointId,
      attemptNum: 1,
      orderingKey: null,
      reason: 'paused' as const,
      dueAt: now,
      queue: 'hqrelay.webhooks',
      message: Buffer.from('held'),
    };
    await holdDeliveries(app, [hold], now);
    const { log: dead } = await die(at(7));
    const neverOwed = await receive({ ...at(6), endpointIds: [] });
    const owedToOther = await receive({ ...at(5), endpointIds: [freshId()] });
    await receive({ ...at(4), eventType: 'order.paid' });
    await receive({ ...at(3), status: 'duplicate', endpointIds: [] });
    await receive({ ageMs: 25 * hourMs });
    const other = await seedProject(world);
    await receive({ projectId: other.id });
    return { delivered, waiting, paused, dead, neverOwed, owedToOther };
  }

  it('a job takes every accepted webhook of the period that the event filter takes, delivered or not, the oldest first', async () => {
    const all = await receiveAll();
    await runToEnd(await createJob(webhooks(false)));
    expect(await heldWebhooks()).toEqual(Object.values(all).map(({ id }) => id));
  });

  it('a job of missing webhooks takes those that are dead or were never owed, not those delivered, waiting or held', async () => {
    const { dead, neverOwed, owedToOther } = await receiveAll();
    const jobId = await createJob(webhooks(true));
    await runToEnd(jobId);
    expect(await heldWebhooks()).toEqual([dead.id, neverOwed.id, owedToOther.id]);
    expect(await openCount()).toBe(0);
  });

  it('a job of missing webhooks passes over one whose replay waits, is held or delivered, and takes it when that replay is dead', async () => {
    const { log } = await die();
    await runToEnd(await createJob(webhooks(true)));
    await runToEnd(await createJob(webhooks(true)));
    const [replayed, ...others] = await held();
    expect(others).toEqual([]);
    // A worker has it.
    await app.query('delete from held_deliveries');
    await runToEnd(await createJob(webhooks(true)));
    expect(await held()).toEqual([]);
    const attempt = { deliveryId: replayed!.delivery_id, lane: 'replay' as const };
    await appendAudit(app, [attemptRow(log, { ...attempt, status: 'dead_lettered' })]);
    await runToEnd(await createJob(webhooks(true)));
    expect(await heldWebhooks()).toEqual([log.id]);
  });

  it('two jobs of the same missing webhooks together replay each once', async () => {
    const logs = [];
    for (let count = 0; count < 12; count += 1) {
      logs.push(await receive({ ageMs: 60_000 - count, endpointIds: [] }));
    }
    const jobs = [await createJob(webhooks(true), 2), await createJob(webhooks(true), 3)];
    await Promise.all(jobs.map(runToEnd));
    expect((await heldWebhooks()).toSorted()).toEqual(logs.map(({ id }) => id).toSorted());
  });

  it('a job finds few matching webhooks among many, in pages of bounded size', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) =>
      webhookRow({ id: newId(now - 120_000 + index), projectId, eventType: 'order.paid' }, null),
    );
    await appendAudit(app, many);
    const { id } = await receive({ ageMs: 1_000 });
    const jobId = await createJob(webhooks(false));
    expect(await batch(jobId)).toEqual({ kind: 'continues', replayed: 0 });
    expect(await batch(jobId)).toEqual({ kind: 'ended', replayed: 1 });
    expect(await heldWebhooks()).toEqual([id]);
  });

  it('the count of a selection ends at a bound and says that there are more', async () => {
    for (let count = 0; count < 5; count += 1) await receive();
    const count = (countMax: number) => countReplayable(app, webhooks(false), { countMax, withinMs: 10_000 });
    expect(await count(5)).toEqual({ count: 5, capped: false, notReplayed: {} });
    expect(await count(4)).toEqual({ count: 4, capped: true, notReplayed: {} });
    expect(await held()).toEqual([]);
  });
});

describe('the list of dead letters', () => {
  it('the list shows each dead letter with its attempts and last answer, the newest first', async () => {
    const { log, letter } = await die({ deadForMs: 60_000 });
    await appendAudit(app, [
      attemptRow(log, { attemptNum: 1 }),
      attemptRow(log, { attemptNum: 2, status: 'dead_lettered', statusCode: null, error: 'timed out' }),
    ]);
    const poison = {
      ...letter,
      id: freshId(),
      kind: 'message' as const,
      webhookLogId: null,
      endpointId: null,
      content: Buffer.from('?'),
    };
    await insertDeadLetters(app, [poison], now);
    const { deadLetters, total } = await listDeadLetters(app, {
      filter: { projectId },
      all: false,
      limit: 10,
    });
    expect(total).toBe(2);
    expect(deadLetters).toMatchObject([
      { id: poison.id, kind: 'message', webhookId: null, attempts: 0 },
      {
        id: letter.id,
        webhookLogId: log.id,
        webhookId: log.webhookId,
        endpointUrl: 'http://127.0.0.1:9/',
        attempts: 2,
        lastStatusCode: null,
        lastError: 'timed out',
        replayedAt: null,
      },
    ]);
  });
});
