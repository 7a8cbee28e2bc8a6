import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { afterAll, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, patch, remove, createProject } = await openConsoleWorld();
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());
const log = async (target: string) =>
  (await sql.query('select action, actor, details from admin_log where target = $1 order by id', [target]))
    .rows;

it('a project is made, read, changed and disabled, and each change has its row in admin_log', async () => {
  const created = await post('/api/v1/projects', { name: ' Shop ', rateLimitPerMinute: null });
  expect(created).toMatchObject({
    statusCode: 201,
    body: { secret: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const { id, webhookUrl } = created.body.project;
  expect(webhookUrl).toMatch(new RegExp(`/v1/webhooks/${id}$`));
  expect(await get(`/api/v1/projects/${id}`)).toMatchObject({
    body: { name: 'Shop', rateLimitPerMinute: null },
  });
  await patch(`/api/v1/projects/${id}`, { rateLimitPerMinute: 7, onConflict: 'duplicate' });
  const disabled = await patch(`/api/v1/projects/${id}`, { enabled: false });
  expect(disabled.body).toMatchObject({ enabled: false, rateLimitPerMinute: 7, onConflict: 'duplicate' });
  const rows = await log(id);
  expect(rows.map(({ action }) => action)).toEqual(['project.create', 'project.update', 'project.disable']);
  for (const { actor } of rows) expect(actor).toMatch(/^key:[0-9a-f-]{36}$/);
  expect(JSON.stringify(rows)).not.toContain(created.body.secret);
});

it('a project is made for a provider with the settings that it needs, which no answer and no log shows', async () => {
  const created = await post('/api/v1/projects', {
    name: 'Shop',
    provider: 'braintree',
    providerSettings: { 'public-key': 'pk_planted' },
    secret: 'a private key of Braintree',
  });
  expect(created).toMatchObject({ statusCode: 201, body: { project: { provider: 'braintree' } } });
  const { rows } = await sql.query('select sealed_settings from projects where id = $1', [
    created.body.project.id,
  ]);
  expect(rows).toEqual([{ sealed_settings: expect.any(String) }]);
  const shown = JSON.stringify([created.body, rows, await log(created.body.project.id)]);
  expect(shown).not.toContain('pk_planted');
});

it('a project of an unknown provider, or with a setting that its provider does not have, is refused', async () => {
  expect(await post('/api/v1/projects', { name: 'x', provider: 'stripes' })).toMatchObject({
    statusCode: 400,
    body: { error: { code: 'request.invalid' } },
  });
  const unknown = { name: 'x', provider: 'github', providerSettings: { colour: 'red' } };
  expect(await post('/api/v1/projects', unknown)).toMatchObject({
    statusCode: 400,
    body: { error: { code: 'project.invalid_settings' } },
  });
});

it('a project with a scheme of its own verifies by it', async () => {
  const scheme = {
    kind: 'hmac',
    alg: 'sha256',
    key: 'utf8',
    message: '{body}',
    signature: { from: 'header:x-own-signature' },
    encoding: 'base64',
  };
  const created = await post('/api/v1/projects', { name: 'Own', scheme });
  expect(created.statusCode).toBe(201);
  const { rows } = await sql.query('select scheme from projects where id = $1', [created.body.project.id]);
  expect(rows).toEqual([{ scheme }]);
  const path = `/api/v1/projects/${created.body.project.id}`;
  expect((await get(path)).body).toMatchObject({ scheme });
  expect((await patch(path, { scheme: null })).body).toMatchObject({ scheme: null });
  expect((await patch(path, { scheme })).body).toMatchObject({ scheme });
});

it('a secret is rotated, listed without its value, and revoked with a warning when it was the last', async () => {
  const id = await createProject();
  const rotated = await post(`/api/v1/projects/${id}/secrets`, { overlapSeconds: 0 });
  expect(rotated).toMatchObject({ statusCode: 201 });
  const listed = await get(`/api/v1/projects/${id}/secrets`);
  expect(listed.body.items.map(({ status }: { status: string }) => status)).toEqual(['active', 'expired']);
  expect(JSON.stringify(listed.body)).not.toContain(rotated.body.secret);
  const revoked = await remove(`/api/v1/projects/${id}/secrets/${rotated.body.secretId}`);
  expect(revoked).toMatchObject({ statusCode: 200, body: { status: 'revoked' } });
  expect(revoked.headers.get('x-hqrelay-warning')).toContain('no active secret left');
});

it('an endpoint goes through its verbs, and its headers are stored and never shown', async () => {
  const id = await createProject();
  const added = await post(`/api/v1/projects/${id}/endpoints`, {
    url: `${endpoint.url}?token=hush`,
    eventTypes: ['payment.*'],
    retrySchedule: ['1s', '2s'],
    headers: [{ name: 'Authorization', value: 'Bearer hush' }],
  });
  expect(added).toMatchObject({
    statusCode: 201,
    body: { endpoint: { hasHeaders: true, eventTypes: ['payment.*'] } },
  });
  expect(JSON.stringify(added.body)).not.toContain('hush');
  const path = `/api/v1/projects/${id}/endpoints/${added.body.endpoint.id}`;
  expect(await post(`${path}/pause`)).toMatchObject({ body: { paused: true } });
  expect(await post(`${path}/resume`, { releaseRate: 7 })).toMatchObject({
    body: { paused: false, releaseRate: 7 },
  });
  expect(await post(`${path}/disable`, { reason: 'broken' })).toMatchObject({
    body: { enabled: false, disabledReason: 'broken' },
  });
  expect(await post(`${path}/enable`)).toMatchObject({ body: { enabled: true, disabledReason: null } });
  const changed = await patch(path, { retrySchedule: 'hqrelay', headers: null, timeoutMs: 2_000 });
  expect(changed.body).toMatchObject({
    hasHeaders: false,
    timeoutMs: 2_000,
    retrySchedule: ['5s', '30s', '5m', '30m', '1h'],
  });
  const rotated = await post(`${path}/rotate-secret`);
  expect(rotated.body.signingSecret).toMatch(/^whsec_/);
  const rows = await log(added.body.endpoint.id);
  expect(rows.map(({ action }) => action)).toEqual([
    'endpoint.add',
    'endpoint.pause',
    'endpoint.resume',
    'endpoint.disable',
    'endpoint.enable',
    'endpoint.update',
    'endpoint.rotate_secret',
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/hush|whsec_/);
  expect(await get(`/api/v1/projects/${id}/endpoints`)).toMatchObject({
    body: { items: [{ timeoutMs: 2_000 }] },
  });
});

it('an endpoint test answers what the endpoint said, also when it fails', async () => {
  const id = await createProject();
  const added = await post(`/api/v1/projects/${id}/endpoints`, { url: endpoint.url });
  const path = `/api/v1/projects/${id}/endpoints/${added.body.endpoint.id}/test`;
  endpoint.answerWith({ statusCode: 500, body: 'no' });
  expect(await post(path)).toMatchObject({ body: { ok: false, statusCode: 500, responseBody: 'no' } });
  endpoint.answerWith({ statusCode: 204 });
  expect(await post(path)).toMatchObject({ body: { ok: true, statusCode: 204, phase: null } });
});

it.each([
  ['a URL of a metadata address', { url: 'http://169.254.169.254/' }, 'endpoint.invalid_url'],
  [
    'a header of the connection',
    { url: 'https://a.example', headers: [{ name: 'Host', value: 'x' }] },
    'endpoint.invalid_headers',
  ],
  [
    'a delay of an hour and a half a week',
    { url: 'https://a.example', retrySchedule: ['900h'] },
    'request.invalid',
  ],
  ['an event type with a star inside', { url: 'https://a.example', eventTypes: ['a*b'] }, 'request.invalid'],
])('an endpoint with %s is answered 400', async (_what, body, code) => {
  const answer = await post(`/api/v1/projects/${await createProject()}/endpoints`, body);
  expect(answer).toMatchObject({ statusCode: 400, body: { error: { code } } });
});

it('the log of changes is read by its target, in pages in both directions', async () => {
  const id = await createProject();
  for (let limit = 1; limit <= 5; limit += 1)
    await patch(`/api/v1/projects/${id}`, { rateLimitPerMinute: limit });
  const read = (query: string) => get(`/api/v1/admin-log?projectId=${id}&limit=2&${query}`);
  const first = (await read('')).body;
  const second = (await read(`cursor=${first.nextCursor}`)).body;
  const third = (await read(`cursor=${second.nextCursor}`)).body;
  expect(third.nextCursor).toBeNull();
  const after = (page: { items: { details: { after: { rateLimitPerMinute: number } } }[] }) =>
    page.items.map(({ details }) => details.after.rateLimitPerMinute);
  expect([first, second, third].map(after)).toEqual([
    [5, 4],
    [3, 2],
    [1, 100],
  ]);
  const back = (await read(`cursor=${third.prevCursor}`)).body;
  expect(after(back)).toEqual([3, 2]);
  const start = (await read(`cursor=${back.prevCursor}`)).body;
  expect(after(start)).toEqual([5, 4]);
  expect(start.prevCursor).toBeNull();
  expect((await get(`/api/v1/admin-log?target=${id}`)).body.items).toHaveLength(6);
});

it('the scheme and the provider settings of a project are changed together, or not at all', async () => {
  const created = await post('/api/v1/projects', {
    name: 'Shop',
    provider: 'braintree',
    providerSettings: { 'public-key': 'pk_first' },
    secret: 'a private key of Braintree',
  });
  const { id } = created.body.project;
  const path = `/api/v1/projects/${id}`;
  const sealedOf = async () =>
    (await sql.query('select sealed_settings, name from projects where id = $1', [id])).rows[0];
  const before = await sealedOf();
  const refused = await patch(path, {
    name: 'Other',
    providerSettings: { 'public-key': 'pk_new', colour: 'red' },
  });
  expect(refused).toMatchObject({ statusCode: 400, body: { error: { code: 'project.invalid_settings' } } });
  expect(await sealedOf()).toEqual(before);

  const changed = await patch(path, { name: 'Other', providerSettings: { 'public-key': 'pk_planted' } });
  expect(changed).toMatchObject({ statusCode: 200, body: { name: 'Other' } });
  expect((await sealedOf()).sealed_settings).not.toBe(before.sealed_settings);
  const rows = await log(id);
  expect(rows.at(-1)).toMatchObject({
    action: 'project.update',
    details: { after: { name: 'Other' }, providerSettings: ['public-key'] },
  });
  expect(JSON.stringify([changed.body, rows])).not.toContain('pk_planted');
});
