import { appendAudit, type DeliveryAttemptRow } from '@hqrelay/db/queries/append-audit';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, makeKey, createProject } = await openConsoleWorld();
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());

const now = Date.now();
let projectId: string;
let endpointId: string;
let path: string;
/** The newest first. */
let webhooks: string[];

const attempt = (webhookLogId: string, more: Partial<DeliveryAttemptRow>): DeliveryAttemptRow => ({
  id: newId(now),
  deliveryId: deliveryId(webhookLogId, endpointId),
  webhookLogId,
  projectId,
  endpointId,
  lane: 'live',
  attemptNum: 1,
  status: 'delivered',
  statusCode: 200,
  latencyMs: 5,
  error: null,
  responseBody: 'answer of the endpoint',
  correlationId: 'corr',
  nextAttemptAt: null,
  ...more,
});

beforeAll(async () => {
  projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: endpoint.url });
  endpointId = added.body.endpoint.id as string;
  path = `/api/v1/projects/${projectId}/webhooks`;
  const ids = Array.from({ length: 6 }, (_, index) => newId(now - 60_000 + index)).reverse();
  webhooks = ids;
  const [delivered, failing, dead, rejected, typed, waiting] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const payload = (text: string) => ({
    payload: Buffer.from(text),
    headers: [['x-request', 'hush']] as [string, string][],
    query: 'a=1&token=hush',
  });
  const owed = { projectId, endpointIds: [endpointId] };
  await recordWebhook(
    sql,
    { id: delivered, ...owed, correlationId: newId(now - 60_000) },
    payload('{"order":4711}'),
  );
  await recordWebhook(sql, { id: failing, ...owed, webhookId: 'evt-failing' }, payload('{}'));
  await recordWebhook(sql, { id: dead, ...owed, correlationId: 'own-correlation' }, payload('{}'));
  await recordWebhook(
    sql,
    { id: rejected, projectId, status: 'rejected', reason: 'signature.mismatch of the body' },
    null,
  );
  await recordWebhook(sql, { id: typed, projectId, eventType: 'payment.paid' }, payload('{}'));
  await recordWebhook(sql, { id: waiting, ...owed }, payload('{}'));
  await appendAudit(sql, [
    { kind: 'attempt', attempt: attempt(delivered, {}) },
    { kind: 'attempt', attempt: attempt(failing, { status: 'failed', statusCode: 503, error: 'HTTP 503' }) },
    {
      kind: 'attempt',
      attempt: attempt(failing, {
        attemptNum: 2,
        status: 'failed',
        statusCode: null,
        error: 'Connection refused',
      }),
    },
    {
      kind: 'attempt',
      attempt: attempt(dead, { status: 'dead_lettered', statusCode: 404, error: 'HTTP 404' }),
    },
  ]);
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     values ($1, 'delivery', 'schedule used up', $2, $3, $4, now())`,
    [deliveryId(dead, endpointId), projectId, dead, endpointId],
  );
});

const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);

describe('the list of webhooks', () => {
  it('the list has all webhooks in pages in both directions, with their deliveries by state', async () => {
    const first = (await get(`${path}?limit=4`)).body;
    expect(idsOf(first)).toEqual(webhooks.slice(0, 4));
    expect(first).toMatchObject({
      prevCursor: null,
      items: [{ deliveries: { delivered: 1 } }, {}, {}, { deliveries: {} }],
    });
    const second = (await get(`${path}?limit=4&cursor=${first.nextCursor}`)).body;
    expect(idsOf(second)).toEqual(webhooks.slice(4));
    expect(second.nextCursor).toBeNull();
    await recordWebhook(sql, { id: newId(now - 50_000), projectId });
    const back = (await get(`${path}?limit=4&cursor=${second.prevCursor}`)).body;
    expect(idsOf(back)).toEqual(webhooks.slice(0, 4));
    expect(back.prevCursor).not.toBeNull();
  });

  it.each<[query: string, places: number[]]>([
    ['status=rejected', [3]],
    ['reason=signature.mismatch', [3]],
    ['reason=signature', []],
    ['eventType=payment.paid', [4]],
    ['webhookId=evt-failing', [1]],
    ['correlationId=own-correlation', [2]],
    ['state=delivered', [0]],
    ['state=dead_lettered', [2]],
    ['state=waiting', [1, 5]],
    ['state=held', []],
    ['statusClass=2xx', [0]],
    ['statusClass=4xx', [2]],
    ['statusClass=none', [1]],
    ['error=connection+REFUSED', [1]],
    ['minAttempts=2', [1]],
    ['state=waiting&minAttempts=1', [1]],
    ['q=4711', [0]],
    ['q=%22order%22%3A4711&state=delivered', [0]],
    ['status=queued&state=dead_lettered', [2]],
  ])(
    'the filter %s lists exactly the webhooks that it describes, and counts as many',
    async (query, places) => {
      const expected = places.map((place) => webhooks[place]);
      expect(idsOf((await get(`${path}?${query}`)).body)).toEqual(expected);
      expect((await get(`${path}/count?${query}`)).body).toEqual({ count: places.length, capped: false });
    },
  );

  it('the filters of a correlation id of the relay, of an endpoint and of a period find their webhooks', async () => {
    const { body } = await get(`/api/v1/webhooks/${webhooks[0]}`);
    expect(idsOf((await get(`${path}?correlationId=${body.webhook.correlationId}`)).body)).toEqual([
      webhooks[0],
    ]);
    const owed = [0, 1, 2, 5].map((place) => webhooks[place]);
    expect(idsOf((await get(`${path}?endpointId=${endpointId}`)).body)).toEqual(owed);
    const [since, until] = [now - 60_000 + 1, now - 60_000 + 3].map((ms) => new Date(ms).toISOString());
    expect(idsOf((await get(`${path}?since=${since}&until=${until}`)).body)).toEqual(webhooks.slice(3, 5));
  });

  it.each([
    'state=gone',
    'limit=201',
    'limit=0',
    'since=yesterday',
    'minAttempts=x',
    'q=ab',
    'state=held&state=waiting',
    'endpointId=1',
  ])('the query %s is answered 400', async (query) =>
    expect(await get(`${path}?${query}`)).toMatchObject({ statusCode: 400 }),
  );

  it('a rare webhook behind thousands of others is found through short pages', async () => {
    const crowded = await createProject();
    const rare = newId(now - 500_000);
    await recordWebhook(sql, { id: rare, projectId: crowded, eventType: 'rare' });
    await sql.query(
      `insert into webhook_logs (id, project_id, webhook_id, status, endpoint_ids, payload_bytes, correlation_id, received_at)
       select (lpad(to_hex(ms), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, $1, n::text, 'queued', '{}', 0, 'c',
         to_timestamp(ms / 1000.0)
       from generate_series(1, 12000) n, lateral (select $2::bigint + n as ms) t`,
      [crowded, now - 400_000],
    );
    const list = `/api/v1/projects/${crowded}/webhooks?eventType=rare`;
    let next = (await get(list)).body;
    for (let pages = 1; pages <= 4; pages += 1) {
      expect(next.items).toEqual([]);
      next = (await get(`${list}&cursor=${next.nextCursor}`)).body;
    }
    expect(idsOf(next)).toEqual([rare]);
    expect(next.nextCursor).toBeNull();
    const back = (await get(`${list}&cursor=${next.prevCursor}`)).body;
    expect(back.items).toEqual([]);
    expect(await get(`/api/v1/projects/${crowded}/webhooks/count`)).toMatchObject({
      body: { count: 10_000, capped: true },
    });
  });
});

describe('one webhook', () => {
  it('a webhook is shown with its request, its deliveries and all their attempts', async () => {
    const { body } = await get(`/api/v1/webhooks/${webhooks[1]}`);
    expect(body).toMatchObject({
      webhook: { id: webhooks[1], webhookId: 'evt-failing' },
      request: { headers: [['x-request', 'hush']], query: 'a=1&token=***', payloadBytes: 2 },
      deliveries: [{ endpointId, state: 'waiting', attempts: 2, lastError: 'Connection refused' }],
      attempts: [
        { attemptNum: 1, statusCode: 503, responseBody: 'answer of the endpoint' },
        { attemptNum: 2, statusCode: null },
      ],
    });
  });

  it('a payload is an attachment with the bytes that came in, and 404 where there is none', async () => {
    const answer = await get(`/api/v1/webhooks/${webhooks[0]}/payload`);
    expect(answer.bytes.toString()).toBe('{"order":4711}');
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
    const none = await get(`/api/v1/webhooks/${webhooks[3]}/payload`);
    expect(none).toMatchObject({ statusCode: 404, body: { error: { code: 'payload.not_found' } } });
  });

  it('the head of a payload is answered with the size of the whole', async () => {
    const payload = `${webhooks[0]}/payload`;
    const head = await get(`/api/v1/webhooks/${payload}?bytesMax=8`);
    expect(head.bytes.toString()).toBe('{"order"');
    expect(head.headers.get('x-hqrelay-whole-bytes')).toBe('14');
    expect(head.headers.get('content-disposition')).toContain(`${webhooks[0]}.head.bin`);
    const whole = await get(`/api/v1/webhooks/${payload}?bytesMax=14`);
    expect(whole.bytes.toString()).toBe('{"order":4711}');
    expect(whole.headers.get('content-disposition')).toContain(`${webhooks[0]}.bin`);
    for (const bytesMax of ['0', '1048577', '-1', 'x']) {
      expect(await get(`/api/v1/webhooks/${payload}?bytesMax=${bytesMax}`)).toMatchObject({
        statusCode: 400,
      });
    }
  });

  it('a key that hides payloads sees no body, header, query or answer, and cannot search payloads', async () => {
    const key = await makeKey('admin', { hidePayloads: true });
    const shown = await get(`/api/v1/webhooks/${webhooks[0]}`, { key });
    expect(shown.body).toMatchObject({ request: null, attempts: [{ responseBody: null }] });
    expect(JSON.stringify(shown.body)).not.toMatch(/hush|answer of the endpoint/);
    const refused = { statusCode: 403, body: { error: { code: 'access.hides_payloads' } } };
    expect(await get(`/api/v1/webhooks/${webhooks[0]}/payload`, { key })).toMatchObject(refused);
    expect(await get(`${path}?q=4711`, { key })).toMatchObject(refused);
    expect(await get(`${path}/count?q=4711`, { key })).toMatchObject(refused);
    endpoint.answerWith({ statusCode: 200, body: 'hush' });
    const test = await post(`/api/v1/projects/${projectId}/endpoints/${endpointId}/test`, {}, { key });
    expect(test.body).toMatchObject({ ok: true, responseBody: null });
  });

  it('a webhook without a payload, and an id that is none, are answered 409 and 404', async () => {
    expect(await post(`/api/v1/webhooks/${webhooks[3]}/replay`)).toMatchObject({
      statusCode: 409,
      body: { error: { code: 'webhook.not_replayable' } },
    });
    expect(await get(`/api/v1/webhooks/${newId(now)}`)).toMatchObject({ statusCode: 404 });
    expect(await get(`/api/v1/webhooks/${projectId.replace(/-7/, '-4')}`)).toMatchObject({ statusCode: 404 });
    expect(await get('/api/v1/webhooks/1')).toMatchObject({ statusCode: 400 });
  });
});
