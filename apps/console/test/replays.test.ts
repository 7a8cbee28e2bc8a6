import { deliveryId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, makeKey, createProject } = await openConsoleWorld();

async function projectWithDead(count: number) {
  const projectId = await createProject();
  const url = 'http://127.0.0.1:9/';
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url });
  const endpointId = added.body.endpoint.id as string;
  const webhooks: string[] = [];
  const letters: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
    webhooks.push(id);
    letters.push(deliveryId(id, endpointId));
    await sql.query(
      `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
       values ($1, 'delivery', 'schedule used up', $2, $3, $4, now())`,
      [letters[index], projectId, id, endpointId],
    );
  }
  return { projectId, endpointId, webhooks, letters, path: `/api/v1/projects/${projectId}/replays` };
}

it('a webhook is replayed to the endpoints it is owed to, and to one that was added later', async () => {
  const { projectId, endpointId, webhooks } = await projectWithDead(1);
  const url = 'http://127.0.0.1:9/later';
  const later = (await post(`/api/v1/projects/${projectId}/endpoints`, { url })).body.endpoint.id as string;
  const path = `/api/v1/webhooks/${webhooks[0]}`;
  const owed = await post(`${path}/replay`);
  expect(owed).toMatchObject({ statusCode: 202, body: { jobId: null, count: 1, replays: [{ endpointId }] } });
  const both = await post(`${path}/replay`, { endpointIds: [endpointId, later] });
  expect(both).toMatchObject({ body: { jobId: expect.any(String), count: 2 } });
  const { body } = await get(path);
  expect(body.replays).toHaveLength(3);
  expect(body.replays[0].requestedBy).toMatch(/^key:/);
  const held = await sql.query("select from held_deliveries where queue = 'hqrelay.replays'");
  expect(held.rowCount).toBe(3);
});

it('dead letters are counted by a dry run and replayed by filter as a job, which is shown and cancelled', async () => {
  const { projectId, path } = await projectWithDead(3);
  const filter = { state: 'dead_lettered' };
  expect((await post(path, { filter, dryRun: true })).body).toEqual({ count: 3, capped: false });
  const created = await post(path, { filter, ratePerSecond: 1 });
  expect(created).toMatchObject({ statusCode: 202, body: { count: 3, capped: false } });
  const job = `/api/v1/replay-jobs/${created.body.jobId}`;
  expect((await get(job)).body).toMatchObject({ state: 'running', projectId, ratePerSecond: 1, states: {} });
  expect(await post(`${job}/cancel`)).toMatchObject({ statusCode: 200, body: { state: 'cancelled' } });
  expect(await post(`${job}/cancel`)).toMatchObject({
    statusCode: 409,
    body: { error: { code: 'replay_job.ended' } },
  });
  const listed = (await get(`/api/v1/projects/${projectId}/replay-jobs`)).body;
  expect(listed.items).toMatchObject([{ id: created.body.jobId, state: 'cancelled' }]);
  const { rows } = await sql.query('select action from admin_log where target = $1 order by id', [
    created.body.jobId,
  ]);
  expect(rows.map(({ action }) => action)).toEqual(['replay_job.create', 'replay_job.cancel']);
});

it('dead letters are replayed by their ids, unless one of them is of another project or was replayed', async () => {
  const { path, letters } = await projectWithDead(2);
  const other = await projectWithDead(1);
  const foreign = await post(path, { ids: [...letters, ...other.letters] });
  expect(foreign).toMatchObject({ statusCode: 404, body: { error: { code: 'dead_letter.not_found' } } });
  const created = await post(path, { ids: letters });
  expect(created).toMatchObject({ statusCode: 202, body: { count: 2 } });
  expect((await get(`/api/v1/replay-jobs/${created.body.jobId}`)).body.selection).toEqual({
    kind: 'dead_letter_ids',
    ids: 2,
  });
  await sql.query('update dead_letters set replayed_at = now() where id = $1', [letters[0]]);
  const again = await post(path, { ids: letters });
  expect(again).toMatchObject({ statusCode: 409, body: { error: { code: 'dead_letter.not_replayable' } } });
});

it('an endpoint is sent what it missed in a period', async () => {
  const { projectId, endpointId, path } = await projectWithDead(2);
  await recordWebhook(sql, { projectId });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const until = new Date(Date.now() + 60_000).toISOString();
  const missing = { endpointId, missing: true, since, until };
  expect((await post(path, { ...missing, dryRun: true })).body).toEqual({ count: 3, capped: false });
  expect(await post(path, missing)).toMatchObject({ statusCode: 202, body: { count: 3 } });
});

it('a replay of nothing, of two selections or of an endpoint of another project is refused', async () => {
  const { path, letters, endpointId } = await projectWithDead(1);
  const other = await projectWithDead(1);
  const since = new Date(0).toISOString();
  for (const body of [
    {},
    { ids: letters, endpointId, since },
    { endpointId },
    { ids: [] },
    { since },
    { filter: {} },
  ]) {
    expect(await post(path, body)).toMatchObject({ statusCode: 400 });
  }
  const foreign = { statusCode: 404, body: { error: { code: 'endpoint.not_found' } } };
  expect(await post(path, { endpointId: other.endpointId, since })).toMatchObject(foreign);
  const filter = { state: 'dead_lettered', endpointId: other.endpointId };
  expect(await post(path, { filter })).toMatchObject(foreign);
});

async function webhookWith(projectId: string, endpointIds: string[], eventType: string, error?: string) {
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds, eventType });
  for (const endpointId of endpointIds)
    if (error !== undefined)
      await recordAttempt(sql, { projectId, webhookLogId, endpointId, error, statusCode: null });
  return webhookLogId;
}

it('webhooks are replayed by any filter of their list: the deliveries that match, or all that they owe', async () => {
  const { projectId, endpointId, path } = await projectWithDead(1);
  const url = 'http://127.0.0.1:9/second';
  const second = (await post(`/api/v1/projects/${projectId}/endpoints`, { url })).body.endpoint.id as string;
  await webhookWith(projectId, [endpointId, second], 'payment.paid', 'connection refused');
  await webhookWith(projectId, [endpointId, second], 'payment.failed', 'HTTP 500');
  const until = new Date(Date.now() + 60_000).toISOString();
  const countOf = async (filter: object) =>
    (await post(path, { filter: { until, ...filter }, dryRun: true })).body.count as number;
  expect(await countOf({ eventType: 'payment.paid' })).toBe(2);
  expect(await countOf({ eventType: 'payment.paid', endpointId: second })).toBe(1);
  expect(await countOf({ error: 'REFUSED' })).toBe(2);
  expect(await countOf({ error: 'refused', endpointId })).toBe(1);
  expect(await countOf({ minAttempts: 1, state: 'waiting' })).toBe(4);
  expect(await countOf({ statusClass: 'none', eventType: 'payment.failed' })).toBe(2);
  expect(await countOf({ state: 'dead_lettered', error: 'nothing like it' })).toBe(0);
  expect(await countOf({})).toBe(5);
  const created = await post(path, { filter: { until, error: 'refused' }, ratePerSecond: 7 });
  expect(created).toMatchObject({ statusCode: 202, body: { count: 2, capped: false } });
  expect((await get(`/api/v1/replay-jobs/${created.body.jobId}`)).body).toMatchObject({
    selection: { kind: 'filtered_webhooks', filter: { projectId, error: 'refused' } },
    ratePerSecond: 7,
  });
});

it('webhooks are replayed by their ids, unless one of them is of another project', async () => {
  const { path, webhooks, letters } = await projectWithDead(3);
  const other = await projectWithDead(1);
  const created = await post(path, { ids: webhooks.slice(0, 2) });
  expect(created).toMatchObject({ statusCode: 202, body: { count: 2 } });
  expect((await get(`/api/v1/replay-jobs/${created.body.jobId}`)).body.selection).toMatchObject({
    kind: 'webhook_ids',
    ids: 2,
  });
  expect(await post(path, { ids: [...webhooks, ...other.webhooks] })).toMatchObject({
    statusCode: 404,
    body: { error: { code: 'webhook.not_found' } },
  });
  expect(await post(path, { ids: [webhooks[0], letters[0]] })).toMatchObject({ statusCode: 400 });
});

it('a key that hides payloads does not replay by a search in payloads', async () => {
  const { path } = await projectWithDead(1);
  const key = await makeKey('operator', { hidePayloads: true });
  expect(await post(path, { filter: { q: 'secret' } }, { key })).toMatchObject({
    statusCode: 403,
    body: { error: { code: 'access.hides_payloads' } },
  });
});

it('dead letters of a period are replayed by when they died, however old their webhooks are', async () => {
  const { projectId, endpointId, letters, path } = await projectWithDead(3);
  await sql.query("update dead_letters set dead_at = now() - interval '2 days' where id = $1", [letters[0]]);
  const deadSince = new Date(Date.now() - 86_400_000).toISOString();
  const count = async (filter: object) =>
    (await post(path, { filter: { state: 'dead_lettered', ...filter }, dryRun: true })).body.count as number;
  expect(await count({})).toBe(3);
  expect(await count({ deadSince })).toBe(2);
  expect(await count({ deadUntil: deadSince, endpointId })).toBe(1);
  const others = { state: 'dead_lettered', deadSince, eventType: 'payment.paid' };
  expect(await post(path, { filter: others, dryRun: true })).toMatchObject({ statusCode: 400 });
  expect(await post(path, { filter: { deadSince }, dryRun: true })).toMatchObject({ statusCode: 400 });
  expect((await get(`/api/v1/projects/${projectId}/replay-jobs`)).body.items).toEqual([]);
});
