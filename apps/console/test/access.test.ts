import { newToken } from '@hqrelay/domain/access/token';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const world = await openConsoleWorld();
const { url, sql, get, post, remove, makeKey, createProject } = world;

it.each([
  ['no key', null],
  ['a key that does not exist', newToken('api_key')],
  ['a text that is no key', 'secret'],
])('a request with %s is answered 401', async (_what, key) => {
  const answer = await get('/api/v1/me', { key, headers: { 'x-correlation-id': 'mine' } });
  expect(answer).toMatchObject({ statusCode: 401, body: { error: { code: 'key.invalid' } } });
  expect(answer.headers.get('www-authenticate')).toContain('Bearer');
  expect(answer.headers.get('x-correlation-id')).toBe('mine');
});

it('a key that has expired or was revoked is answered 401 like one that does not exist', async () => {
  const expired = await makeKey('viewer');
  await sql.query("update api_keys set expires_at = now() - interval '1 second' where role = 'viewer'");
  const { body: created } = await post('/api/v1/api-keys', { name: 'short', role: 'viewer' });
  expect(await get('/api/v1/me', { key: created.apiKey })).toMatchObject({ statusCode: 200 });
  expect(await remove(`/api/v1/api-keys/${created.apiKeyId}`)).toMatchObject({ statusCode: 200 });
  const unknown = await get('/api/v1/me', { key: newToken('api_key') });
  for (const key of [expired, created.apiKey as string]) {
    expect(await get('/api/v1/me', { key })).toMatchObject({ statusCode: 401, body: unknown.body });
  }
});

it('a key says who it is and records when it was last used', async () => {
  const key = await makeKey('operator', { hidePayloads: true });
  const me = await get('/api/v1/me', { key });
  expect(me.body).toMatchObject({ kind: 'key', role: 'operator', projectId: null, hidePayloads: true });
  const { rows } = await sql.query('select last_used_at from api_keys where id = $1', [me.body.id]);
  expect(rows[0].last_used_at).toBeInstanceOf(Date);
});

it('a key of one project lists that project alone, and makes keys of that project alone', async () => {
  const [own, other] = [await createProject(), await createProject()];
  const key = await makeKey('admin', { projectId: own });
  const listed = await get('/api/v1/projects', { key });
  expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([own]);
  expect(await post('/api/v1/projects', { name: 'mine' }, { key })).toMatchObject({ statusCode: 403 });

  const made = await post('/api/v1/api-keys', { name: 'k', role: 'viewer' }, { key });
  expect(await get('/api/v1/me', { key: made.body.apiKey })).toMatchObject({ body: { projectId: own } });
  const refused = await post('/api/v1/api-keys', { name: 'k', role: 'viewer', projectId: other }, { key });
  expect(refused).toMatchObject({ statusCode: 404 });
  const keys = await get('/api/v1/api-keys', { key });
  expect(new Set(keys.body.items.map((item: { projectId: string }) => item.projectId))).toEqual(
    new Set([own]),
  );
});

it('a key that hides payloads makes no key that shows them', async () => {
  const key = await makeKey('admin', { hidePayloads: true });
  const refused = await post('/api/v1/api-keys', { name: 'k', role: 'admin', hidePayloads: false }, { key });
  expect(refused).toMatchObject({ statusCode: 403, body: { error: { code: 'access.exceeds_own' } } });
  const made = await post('/api/v1/api-keys', { name: 'k', role: 'admin' }, { key });
  expect(await get('/api/v1/me', { key: made.body.apiKey })).toMatchObject({ body: { hidePayloads: true } });
});

it('no key appears in a table, in the log or in admin_log', async () => {
  const { body } = await post('/api/v1/api-keys', { name: 'k', role: 'viewer' });
  await get('/api/v1/me', { key: body.apiKey });
  await waitFor('the log line', () => world.log.some((line) => line.includes('"operation":"getMe"')));
  expect(world.log.join('\n')).not.toContain(body.apiKey);
  const tables = await sql.query(
    'select (select json_agg(k) from api_keys k)::text as keys, (select json_agg(l) from admin_log l)::text as log',
  );
  expect(JSON.stringify(tables.rows)).not.toContain(body.apiKey);
});

it('requests through a proxy that TRUST_PROXY does not name are logged once, with what to set', async () => {
  for (const address of ['203.0.113.1', '203.0.113.2']) {
    await get('/api/v1/me', { headers: { 'x-forwarded-for': address } });
  }
  const lines = world.log.filter((line) => line.includes('proxy.not_trusted'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('TRUST_PROXY is not set');
});

it('requests without an active key are answered 429 after a burst, until they wait', async () => {
  // At once: the limit refills with time.
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      fetch(`${url}/api/v1/me`, { headers: { authorization: 'Bearer none' } }),
    ),
  );
  for (const { status, headers } of answers)
    if (status === 429) expect(headers.get('retry-after')).toMatch(/^\d+$/);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
  await waitFor('the limit to end', async () => (await get('/api/v1/me')).statusCode === 200);
});
