import { appendAudit } from '../src/queries/append-audit.ts';
import { insertDeadLetters, listDeadLetters } from '../src/queries/dead-letters.ts';
import {
  countReplayable,
  replayDeadLetters,
  type BatchEnd,
  type ReplayBatchOptions,
  type Selection,
} from '../src/queries/replay-dead-letters.ts';
import { readRecordedWebhooks, replayWebhook, type Replay } from '../src/queries/replays.ts';
import { deliveryId, newId, timeOfId } from '@hqrelay/domain/ids';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { attemptRow, webhookRow } from './audit-rows.ts';

let world: World;
let app: pg.Pool;
let projectId: string;
let endpointId: string;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  app = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
});

afterAll(async () => {
  await app.end();
  await world.close();
});

beforeEach(async () => {
  ({ id: projectId } = await seedProject(world));
  ({ id: endpointId } = await seedEndpoint(world, projectId, { url: 'http://127.0.0.1:9/' }));
});

afterEach(() => world.sql.query('delete from held_deliveries; delete from dead_letters'));

const now = Date.now();

/** A webhook whose delivery is dead since `ageMs`. */
async function dead({ ageMs = 1_000, bytes = 2, payload = true, to = endpointId } = {}) {
  const { log, ...row } = webhookRow(
    { projectId, endpointIds: [to] },
    payload ? { payload: Buffer.alloc(bytes, 'x') } : null,
  );
  await appendAudit(app, [{ ...row, log }]);
  const letter = {
    id: deliveryId(log.id, to),
    kind: 'delivery' as const,
    reason: 'HTTP 500 at attempt 6, the last',
    projectId,
    webhookLogId: log.id,
    endpointId: to,
    content: null,
  };
  await insertDeadLetters(app, [letter], now - ageMs);
  return { log, letter };
}

const encode: ReplayBatchOptions['encode'] = (webhook, { replayId }) =>
  Buffer.from(`${webhook.id} ${replayId}`);

const all = (): Selection => ({ filter: { projectId } });

function replayBatch(selection: Selection, options: Partial<ReplayBatchOptions> = {}) {
  return replayDeadLetters(app, selection, {
    requestedBy: 'test',
    now,
    encode,
    perSecond: 50,
    after: null,
    ...options,
  });
}

async function replayEverything(options: Partial<ReplayBatchOptions> = {}): Promise<Replay[][]> {
  const batches: Replay[][] = [];
  let after: BatchEnd | null = null;
  do {
    const batch: Awaited<ReturnType<typeof replayBatch>> = await replayBatch(all(), { ...options, after });
    if (batch.replays.length > 0) batches.push(batch.replays);
    after = batch.end;
  } while (after !== null);
  return batches;
}

async function held() {
  const { rows } = await app.query<{
    delivery_id: string;
    webhook_log_id: string;
    reason: string;
    queue: string;
    due_at: Date;
    message: Buffer;
  }>('select * from held_deliveries order by due_at');
  return rows;
}

const open = async () =>
  (await listDeadLetters(app, { filter: { projectId }, all: false, limit: 1_000 })).total;

describe('a replay of dead letters', () => {
  it('is a row, and a message that is held until it is due; the dead letter says so', async () => {
    const { log, letter } = await dead();
    const { replays } = await replayBatch({ ids: [letter.id] });
    const [replay] = replays;
    expect(replay).toMatchObject({ deadLetterId: letter.id, webhookLogId: log.id, endpointId, dueAt: now });
    expect(replay!.deliveryId).toBe(deliveryId(log.id, endpointId, replay!.replayId));
    expect(await held()).toMatchObject([
      {
        delivery_id: replay!.deliveryId,
        webhook_log_id: log.id,
        reason: 'delay',
        queue: 'hqrelay.replays',
        due_at: new Date(now),
        message: Buffer.from(`${log.id} ${replay!.replayId}`),
      },
    ]);
    const { rows } = await app.query('select * from replays where webhook_log_id = $1', [log.id]);
    const ids = { id: replay!.replayId, webhook_log_id: log.id, endpoint_id: endpointId };
    expect(rows).toEqual([{ ...ids, requested_by: 'test', requested_at: new Date(now) }]);
    expect(timeOfId(replay!.replayId)).toBe(now);
    const { deadLetters } = await listDeadLetters(app, { filter: {}, all: true, limit: 10 });
    expect(deadLetters).toMatchObject([{ replayId: replay!.replayId, replayedAt: new Date(now) }]);
  });

  it('goes one after another at the rate, those that died first at first', async () => {
    const third = await dead({ ageMs: 1_000 });
    const first = await dead({ ageMs: 9_000 });
    const second = await dead({ ageMs: 5_000 });
    await replayEverything({ perSecond: 4 });
    const rows = await held();
    expect(rows.map((row) => row.webhook_log_id)).toEqual([first, second, third].map(({ log }) => log.id));
    expect(rows.map((row) => row.due_at.getTime() - now)).toEqual([0, 250, 500]);
  });

  it('in several batches keeps the rate from one to the next', async () => {
    for (let count = 0; count < 5; count += 1) await dead({ bytes: 3 << 20 });
    const batches = await replayEverything({ perSecond: 10 });
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1]);
    expect((await held()).map((row) => row.due_at.getTime() - now)).toEqual([0, 100, 200, 300, 400]);
  });

  it('of a project begins after what another still has before it, but not after a replay that waits to be retried', async () => {
    const { log } = await dead({ ageMs: 9_000 });
    await dead();
    await replayEverything({ perSecond: 1 });
    // A later attempt of the first one, held for two hours by a worker.
    await app.query(
      `update held_deliveries set due_at = $2, held_at = now() + interval '1 minute' where webhook_log_id = $1`,
      [log.id, new Date(now + 7_200_000)],
    );
    await dead();
    await replayEverything({ perSecond: 10 });
    const dues = (await held()).map((row) => row.due_at.getTime() - now);
    expect(dues).toEqual([1_000, 1_100, 7_200_000]);
  });

  it('by id does not wait for others', async () => {
    await dead();
    await dead();
    await replayEverything({ perSecond: 1 });
    const { letter } = await dead();
    const { replays } = await replayBatch({ ids: [letter.id] });
    expect(replays[0]?.dueAt).toBe(now);
  });

  it('asked for twice at once happens once', async () => {
    for (let count = 0; count < 30; count += 1) await dead();
    await Promise.all([replayEverything(), replayEverything(), replayEverything()]);
    const rows = await held();
    expect(new Set(rows.map((row) => row.webhook_log_id)).size).toBe(30);
    expect(rows).toHaveLength(30);
    expect(new Set(rows.map((row) => row.due_at.getTime())).size).toBe(30);
    expect(await replayEverything()).toEqual([]);
  });

  it('that fails half-way has changed nothing of its batch, and goes on when it is asked for again', async () => {
    for (let count = 0; count < 4; count += 1) await dead({ bytes: 5 << 20, ageMs: 9_000 - count });
    let encoded = 0;
    const dying: ReplayBatchOptions['encode'] = (webhook, replay) => {
      encoded += 1;
      if (encoded === 3) throw new Error('killed');
      return encode(webhook, replay);
    };
    await expect(replayEverything({ encode: dying })).rejects.toThrow('killed');
    expect(await open()).toBe(2);
    expect(await held()).toHaveLength(2);
    await replayEverything();
    expect(await open()).toBe(0);
    expect(await held()).toHaveLength(4);
  });

  it('leaves out what has no payload or no endpoint, and says why', async () => {
    const fine = await dead();
    const gone = await dead({ payload: false });
    const nowhere = await dead({ to: newId() });
    const unrecorded = { ...fine.letter, id: newId(), webhookLogId: newId() };
    await insertDeadLetters(app, [unrecorded], now - 500);
    const expected = [
      { id: gone.letter.id, why: 'payload_gone' },
      { id: nowhere.letter.id, why: 'no_endpoint' },
      { id: unrecorded.id, why: 'not_recorded' },
    ];
    const counts = await countReplayable(app, all());
    expect(counts.toSorted((a, b) => String(a.whyNot).localeCompare(String(b.whyNot)))).toEqual([
      { endpointId: nowhere.letter.endpointId, whyNot: 'no_endpoint', count: 1 },
      { endpointId, whyNot: 'not_recorded', count: 1 },
      { endpointId, whyNot: null, count: 1 },
      { endpointId, whyNot: 'payload_gone', count: 1 },
    ]);
    expect(await open()).toBe(4);
    const { replays, notReplayed } = await replayBatch(all());
    expect(replays.map((each) => each.deadLetterId)).toEqual([fine.letter.id]);
    expect(notReplayed.toSorted((a, b) => a.why.localeCompare(b.why))).toEqual(
      expected.toSorted((a, b) => a.why.localeCompare(b.why)),
    );
    expect(await open()).toBe(3);
  });

  it('takes those of a project, an endpoint and a time, and nothing that is no delivery', async () => {
    const other = await seedEndpoint(world, projectId, { url: 'http://127.0.0.1:9/' });
    const old = await dead({ ageMs: 3_600_000 });
    const recent = await dead();
    const elsewhere = await dead({ to: other.id });
    const { letter } = recent;
    await insertDeadLetters(
      app,
      [{ ...letter, id: newId(), kind: 'message', content: Buffer.from('?') }],
      now,
    );
    const taken = async (filter: object) => {
      const rows = await countReplayable(app, { filter: { projectId, ...filter } });
      return rows.reduce((sum, { count }) => sum + count, 0);
    };
    expect(await taken({})).toBe(3);
    expect(await taken({ endpointId: other.id })).toBe(1);
    expect(await taken({ since: now - 60_000 })).toBe(2);
    expect(await taken({ until: now - 60_000 })).toBe(1);
    expect(await taken({ projectId: newId() })).toBe(0);
    const { replays } = await replayBatch({ filter: { endpointId, until: now - 60_000 } });
    expect(replays.map((each) => each.deadLetterId)).toEqual([old.letter.id]);
    expect(await held()).toHaveLength(1);
    expect(elsewhere.letter.endpointId).toBe(other.id);
  });
});

describe('a replay of a webhook', () => {
  it('takes up again what is dead of that delivery, and of no other', async () => {
    const other = await seedEndpoint(world, projectId, { url: 'http://127.0.0.1:9/' });
    const { log, letter } = await dead();
    await dead();
    await insertDeadLetters(
      app,
      [{ ...letter, id: deliveryId(log.id, other.id), endpointId: other.id }],
      now,
    );
    const webhook = (await readRecordedWebhooks(app, [log.id])).get(log.id)!;
    const options = { requestedBy: 'test', now, encode };
    const [replay] = await replayWebhook(app, webhook, [endpointId], options);
    expect(await open()).toBe(2);
    const { rows } = await app.query('select id from dead_letters where replay_id = $1', [replay!.replayId]);
    expect(rows).toEqual([{ id: letter.id }]);
    expect(await held()).toMatchObject([{ delivery_id: replay!.deliveryId, due_at: new Date(now) }]);
  });
});

describe('the list of dead letters', () => {
  it('tells the newest first what each is, how often it was tried and what came of it', async () => {
    const { log, letter } = await dead({ ageMs: 60_000 });
    await appendAudit(app, [
      attemptRow(log, { attemptNum: 1 }),
      attemptRow(log, { attemptNum: 2, status: 'dead_lettered', statusCode: null, error: 'timed out' }),
    ]);
    const poison = {
      ...letter,
      id: newId(),
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
