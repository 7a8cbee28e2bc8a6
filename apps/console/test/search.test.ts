import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { beforeAll, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, patch, makeKey, createProject } = await openConsoleWorld();
let projectId: string;
let endpointId: string;
let webhook: string;
const relayCorrelation = newId(Date.now() - 5_000);

beforeAll(async () => {
  projectId = await createProject();
  const url = 'http://127.0.0.1:9/';
  endpointId = (await post(`/api/v1/projects/${projectId}/endpoints`, { url })).body.endpoint.id;
  webhook = newId(Date.now() - 5_000);
  const payload = { payload: Buffer.from('{"order":"Bestellung ü 4711"}'), headers: [], query: '' };
  const ids = { webhookId: 'evt_found', correlationId: relayCorrelation, endpointIds: [endpointId] };
  await recordWebhook(sql, { id: webhook, projectId, ...ids }, payload);
  await recordWebhook(sql, { projectId, correlationId: 'their-correlation' });
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     values ($1, 'delivery', 'schedule used up', $2, $3, $4, now())`,
    [deliveryId(webhook, endpointId), projectId, webhook, endpointId],
  );
});

const find = async (q: string, key?: string) =>
  (await get(`/api/v1/search?q=${encodeURIComponent(q)}`, key === undefined ? {} : { key })).body;

it.each<[what: string, q: () => string, kind: string, id: () => string]>([
  ['the id of a project', () => projectId, 'project', () => projectId],
  ['the id of an endpoint, in upper case', () => endpointId.toUpperCase(), 'endpoint', () => endpointId],
  ['the id of a webhook', () => webhook, 'webhook', () => webhook],
  ["a provider's id", () => 'evt_found', 'webhook', () => webhook],
  ['a correlation id of the relay', () => relayCorrelation, 'webhook', () => webhook],
  [
    'the id of a dead delivery',
    () => deliveryId(webhook, endpointId),
    'delivery',
    () => deliveryId(webhook, endpointId),
  ],
  ['text in a payload', () => 'Bestellung ü 4711', 'webhook', () => webhook],
])(
  'a search finds %s, with a key of all projects and of its project, not of another',
  async (_what, q, kind, id) => {
    const item = expect.objectContaining({ kind, id: id(), projectId });
    expect((await find(q())).items).toEqual([item]);
    expect((await find(q(), await makeKey('viewer', { projectId }))).items).toEqual([item]);
    expect((await find(q(), await makeKey('viewer', { projectId: await createProject() }))).items).toEqual(
      [],
    );
  },
);

it('a search finds a correlation id that a client chose, and the id of a delivery that was attempted', async () => {
  expect((await find('their-correlation')).items).toHaveLength(1);
  const attempted = deliveryId(newId(Date.now()), endpointId);
  await sql.query(
    `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, latency_ms,
       correlation_id, attempted_at)
     select $1, $2, $3, $4, $5, 'live', 1, 'delivered', 1, 'c', hqrelay_time_of($1)`,
    [newId(Date.now()), attempted, webhook, projectId, endpointId],
  );
  expect((await find(attempted)).items).toEqual([
    { kind: 'delivery', id: attempted, projectId, webhookLogId: webhook },
  ]);
});

it('a search says how far it looked, and looks into no payload for a key that hides them', async () => {
  const { scanned } = await find('nothing has this text');
  expect(scanned).toMatchObject({
    rows: 2,
    complete: true,
    from: expect.any(String),
    to: expect.any(String),
  });
  expect((await find('4711', await makeKey('viewer', { hidePayloads: true }))).items).toEqual([]);
  expect(await get('/api/v1/search?q=ab')).toMatchObject({ statusCode: 400 });
});

it('a project takes up to five search keys over the API', async () => {
  const id = await createProject({ searchKeys: ['/order/id'] });
  expect((await get(`/api/v1/projects/${id}`)).body.searchKeys).toEqual(['/order/id']);
  const keys = ['/1', '/2', '/3', '/4', '/5', '/6'];
  for (const searchKeys of [keys, ['order.id'], ['/~2']]) {
    expect(await patch(`/api/v1/projects/${id}`, { searchKeys })).toMatchObject({ statusCode: 400 });
  }
  expect((await patch(`/api/v1/projects/${id}`, { searchKeys: [] })).body.searchKeys).toEqual([]);
});
