import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, post, patch, get, makeKey, createProject } = await openConsoleWorld();
const withKey = (idempotencyKey: string) => ({ headers: { 'idempotency-key': idempotencyKey } });
const countProjects = async (name: string) =>
  (await sql.query('select from projects where name = $1', [name])).rowCount;

it('a POST that is repeated with its Idempotency-Key is done once and answered the same', async () => {
  const first = await post('/api/v1/projects', { name: 'once' }, withKey('a'));
  const again = await post('/api/v1/projects', { name: 'once' }, withKey('a'));
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(again).toMatchObject({ statusCode: 201, body: first.body });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await countProjects('once')).toBe(1);
});

it('twenty requests at once with one Idempotency-Key make one project', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post('/api/v1/projects', { name: 'storm' }, withKey('storm'))),
  );
  expect(await countProjects('storm')).toBe(1);
  for (const { statusCode, body } of answers) {
    expect(statusCode === 201 || body.error.code === 'idempotency_key.in_use').toBe(true);
  }
});

it('an Idempotency-Key is refused for another request, and free for another API key', async () => {
  await post('/api/v1/projects', { name: 'one' }, withKey('shared'));
  const reused = await post('/api/v1/projects', { name: 'two' }, withKey('shared'));
  expect(reused).toMatchObject({ statusCode: 409, body: { error: { code: 'idempotency_key.reused' } } });
  const key = await makeKey('admin');
  const other = await post('/api/v1/projects', { name: 'two' }, { ...withKey('shared'), key });
  expect(other).toMatchObject({ statusCode: 201 });
});

it('a stored answer contains its secret sealed alone', async () => {
  const { body } = await post('/api/v1/projects', { name: 'sealed' }, withKey('sealed'));
  const { rows } = await sql.query("select * from api_answers where idempotency_key = 'sealed'");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(body.secret);
});

it('a refused POST does not use up its Idempotency-Key', async () => {
  const invalid = await post('/api/v1/projects', { name: 'late', secret: 'short' }, withKey('late'));
  expect(invalid).toMatchObject({ statusCode: 400, body: { error: { code: 'secret.too_short' } } });
  const longer = { name: 'late', secret: 'long enough for a secret' };
  expect(await post('/api/v1/projects', longer, withKey('late'))).toMatchObject({ statusCode: 201 });
});

it('a POST whose first request ended without an answer is refused and not done again', async () => {
  await post('/api/v1/projects', { name: 'lost' }, withKey('lost'));
  await sql.query(
    `update api_answers set status_code = null, sealed_answer = null, created_at = now() - interval '2 minutes'
     where idempotency_key = 'lost'`,
  );
  const again = await post('/api/v1/projects', { name: 'lost' }, withKey('lost'));
  expect(again.body).toMatchObject({ error: { code: 'idempotency_key.outcome_unknown' } });
  expect(await countProjects('lost')).toBe(1);
});

it('a POST whose stored answer needs a retired key is refused and not done again', async () => {
  await post('/api/v1/projects', { name: 'retired' }, withKey('retired'));
  await sql.query("update api_answers set key_id = '00000000' where idempotency_key = 'retired'");
  const again = await post('/api/v1/projects', { name: 'retired' }, withKey('retired'));
  expect(again).toMatchObject({
    statusCode: 409,
    body: { error: { code: 'idempotency_key.answer_unreadable' } },
  });
  expect(await countProjects('retired')).toBe(1);
});

it('an Idempotency-Key may be used again after 24 hours', async () => {
  await post('/api/v1/projects', { name: 'daily' }, withKey('daily'));
  await sql.query(
    "update api_answers set created_at = now() - interval '25 hours' where idempotency_key = 'daily'",
  );
  expect(await post('/api/v1/projects', { name: 'daily' }, withKey('daily'))).toMatchObject({
    statusCode: 201,
  });
  expect(await countProjects('daily')).toBe(2);
});

it.each([
  ['a field that does not exist', { nam: 'x' }, /nam/],
  ['a value of another type', { name: 7 }, /body\.name/],
  ['no name', {}, /body\.name/],
  ['a list', [], /body/],
])('a body with %s is answered 400 with a sentence that names it', async (_what, body, sentence) => {
  const answer = await post('/api/v1/projects', body);
  expect(answer).toMatchObject({ statusCode: 400, body: { error: { code: 'request.invalid' } } });
  expect(answer.body.error.message).toMatch(sentence);
});

it('a body that is too large, no JSON, or of another type is answered 413, 400 and 415', async () => {
  const name = 'x'.repeat(300_000);
  expect(await post('/api/v1/projects', { name })).toMatchObject({ statusCode: 413 });
  expect(await post('/api/v1/projects', '{"name":')).toMatchObject({ statusCode: 400 });
  const text = { headers: { 'content-type': 'text/plain' } };
  expect(await post('/api/v1/projects', 'name', text)).toMatchObject({ statusCode: 415 });
});

it('a query parameter that does not exist is answered 400, and so is a cursor of another list', async () => {
  await createProject();
  await createProject();
  expect(await get('/api/v1/projects?archivd=true')).toMatchObject({ statusCode: 400 });
  const page = await get('/api/v1/projects?limit=1');
  const cursor = page.body.nextCursor as string;
  const refused = [`archived=true&cursor=${cursor}`, 'cursor=x', `cursor=${cursor.slice(0, -4)}`];
  for (const query of refused) {
    const answer = await get(`/api/v1/projects?${query}`);
    expect(answer).toMatchObject({ statusCode: 400, body: { error: { code: 'cursor.invalid' } } });
  }
  const other = await get(`/api/v1/api-keys?cursor=${cursor}`);
  expect(other).toMatchObject({ statusCode: 400 });
});

it('a change of nothing is answered 400', async () => {
  expect(await patch(`/api/v1/projects/${await createProject()}`, {})).toMatchObject({ statusCode: 400 });
});
