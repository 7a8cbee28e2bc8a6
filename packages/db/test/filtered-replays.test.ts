import { inTransaction } from '../src/in-transaction.ts';
import { appendAudit } from '../src/queries/append-audit.ts';
import { readOwedPage } from '../src/queries/owed-pages.ts';
import { insertReplayJob, readReplayJob } from '../src/queries/replay-jobs.ts';
import type { ReplayCandidate, ReplayCursor } from '../src/queries/replay-page.ts';
import { runReplayBatch } from '../src/queries/run-replay-batch.ts';
import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { expect, it } from 'vitest';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();
const now = Date.now();
const encode = () => Buffer.from('message');

/** Webhooks of one project that owe two endpoints each. The first attempts to the first endpoint failed. */
async function receive(count: number) {
  const { id: projectId } = await seedProject(world);
  const endpoints = await Promise.all(
    ['/a', '/b'].map((path) => seedEndpoint(world, projectId, { url: `http://127.0.0.1:9${path}` })),
  );
  const endpointIds = endpoints.map(({ id }) => id);
  const rows = Array.from({ length: count }, (_, index) =>
    webhookRow({ id: newId(now - 60_000 + index), projectId, endpointIds }, { payload: Buffer.alloc(100) }),
  );
  const attempts = rows.map(({ log }) => attemptRow(log, { error: 'connection refused', statusCode: null }));
  await appendAudit(app, [...rows, ...attempts]);
  const filter = { projectId, since: now - 120_000, until: now };
  return { projectId, endpointIds, ids: rows.map(({ log }) => log.id), filter };
}

it.each([
  ['one webhook a page', { candidatesMax: 1, bytesMax: 1_000_000 }],
  ['payloads that exceed the bytes of a page', { candidatesMax: 500, bytesMax: 250 }],
  ['one page', { candidatesMax: 500, bytesMax: 1_000_000 }],
])('a filter takes each delivery once, the oldest webhook first, with %s', async (_how, limit) => {
  const { endpointIds, ids, filter } = await receive(7);
  for (const selection of [
    { kind: 'filtered_webhooks', filter } as const,
    { kind: 'webhook_ids', projectId: filter.projectId, ids: ids.toReversed() } as const,
  ]) {
    const found: ReplayCandidate[] = [];
    let cursor: ReplayCursor | null = null;
    do {
      const page = await readOwedPage(app, selection, cursor, limit);
      found.push(...page.candidates);
      cursor = page.next;
    } while (cursor !== null);
    expect(found.map(({ webhookLogId }) => webhookLogId)).toEqual(ids.flatMap((id) => [id, id]));
    expect(new Set(found.map((each) => JSON.stringify(each))).size).toBe(14);
    expect(new Set(found.map(({ endpointId }) => endpointId))).toEqual(new Set(endpointIds));
  }
});

it('a job of a filter continues after its last batch and sends the matching deliveries alone', async () => {
  const { projectId, endpointIds, filter } = await receive(5);
  const selection = { kind: 'filtered_webhooks' as const, filter: { ...filter, error: 'refused' } };
  const job = { projectId, selection, ratePerSecond: 1, requestedBy: 'test', count: 5, countCapped: false };
  const { id } = await inTransaction(app, (client) =>
    insertReplayJob(client, { id: freshId(), ...job }, now),
  );
  let batches = 0;
  for (let at = now; (await readReplayJob(app, id))?.state === 'running'; at += 1_000) {
    await runReplayBatch(app, id, { now: at, encode });
    batches += 1;
  }
  expect(batches).toBeGreaterThan(1);
  expect(await readReplayJob(app, id)).toMatchObject({ state: 'finished', replayed: 5, notReplayed: {} });
  const { rows } = await app.query<{ endpoint_id: string }>(
    'select distinct endpoint_id from replays where job_id = $1',
    [id],
  );
  expect(rows).toEqual([{ endpoint_id: endpointIds[0] }]);
});

it('a dead letter that was replayed, and a payload that was dropped, are not sent by a filter', async () => {
  const { id: projectId } = await seedProject(world);
  const { id: endpointId } = await seedEndpoint(world, projectId, { url: 'http://127.0.0.1:9/' });
  const log = { projectId, endpointIds: [endpointId] };
  const rows = [webhookRow(log), webhookRow(log), webhookRow(log, null)];
  await appendAudit(app, [...rows, ...rows.map((row) => attemptRow(row.log, { status: 'dead_lettered' }))]);
  await world.sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at, replayed_at)
     select delivery_id, 'delivery', 'test', project_id, webhook_log_id, endpoint_id, now(),
       case when webhook_log_id = $1 then now() end from delivery_status where project_id = $2`,
    [rows[0]!.log.id, projectId],
  );
  const filter = {
    projectId,
    since: now - 3_600_000,
    until: Date.now() + 60_000,
    state: 'dead_lettered' as const,
  };
  const limit = { candidatesMax: 500, bytesMax: 1_000_000 };
  expect(await readOwedPage(app, { kind: 'filtered_webhooks', filter }, null, limit)).toEqual({
    candidates: [{ webhookLogId: rows[1]!.log.id, endpointId }],
    notReplayed: { payload_dropped: 1 },
    next: null,
  });
});
