import { describe, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const world = await openConsoleWorld();
const { url, sql, log, get, post, remove, makeKey, makeLink, makeSession, signIn, createProject } = world;

describe('a sign-in link', () => {
  it('a sign-in link signs one browser in with an HttpOnly cookie, and the session names its subject', async () => {
    const projectId = await createProject();
    const link = await post('/api/v1/console-links', {
      role: 'operator',
      subject: 'eva@example.com',
      projectId,
      returnUrl: 'https://backoffice.example.com/orders',
      hidePayloads: true,
      expiresInSeconds: 120,
    });
    expect(link.statusCode).toBe(201);
    expect(link.body.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#hql_[\w-]{43}$/);
    const signedIn = await signIn(link.body.url);
    expect(signedIn).toMatchObject({
      statusCode: 201,
      body: { returnUrl: 'https://backoffice.example.com/orders' },
    });
    expect(signedIn.setCookie).toMatch(
      /^hqrelay_session=hqs_[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    const me = await get('/api/v1/me', { session: signedIn.cookie });
    expect(me.body).toMatchObject({
      kind: 'session',
      name: 'eva@example.com',
      role: 'operator',
      projectId,
      hidePayloads: true,
      returnUrl: 'https://backoffice.example.com/orders',
      expiresAt: signedIn.body.expiresAt,
    });
  });

  it('a sign-in link is not used up by GETs, and is refused after its first use', async () => {
    const link = await makeLink('viewer');
    for (const path of [
      new URL(link).pathname,
      `/api/v1/sessions`,
      `/sign-in?token=${new URL(link).hash.slice(1)}`,
    ]) {
      await fetch(url + path);
    }
    expect(await signIn(link)).toMatchObject({ statusCode: 201 });
    const second = await signIn(link);
    expect(second).toMatchObject({
      statusCode: 410,
      body: { error: { code: 'console_link.used' } },
      setCookie: '',
    });
    expect(second.body.error.message).toContain('ask for a new one');
  });

  it('a sign-in link that five browsers redeem at the same moment signs in one of them', async () => {
    const link = await makeLink('viewer');
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(link)));
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((each) => each === 201)).toHaveLength(1);
    expect(statuses.filter((each) => each === 410)).toHaveLength(4);
  });

  it('a sign-in link that has expired or is not known is refused with a sentence for people', async () => {
    const link = await makeLink('viewer', { subject: 'late' });
    await sql.query("update console_links set expires_at = now() where subject = 'late'");
    expect(await signIn(link)).toMatchObject({
      statusCode: 410,
      body: { error: { code: 'console_link.expired' } },
    });
    const unknown = await signIn(`${url}/sign-in#hql_${'a'.repeat(43)}`);
    expect(unknown).toMatchObject({ statusCode: 404, body: { error: { code: 'console_link.not_found' } } });
  });

  it.each(['//evil.example', 'javascript:alert(1)', 'https://user:secret@example.com/'])(
    'a sign-in link with the return URL %s is refused',
    async (returnUrl) => {
      const answer = await post('/api/v1/console-links', { role: 'viewer', subject: 's', returnUrl });
      expect(answer).toMatchObject({
        statusCode: 400,
        body: { error: { code: 'console_link.invalid_return_url' } },
      });
    },
  );

  it('a sign-in link gives no more access than its maker has', async () => {
    const [own, other] = [await createProject(), await createProject()];
    const session = await makeSession('admin', { projectId: own, hidePayloads: true });
    const body = { role: 'admin', subject: 's' };
    const more = await post('/api/v1/console-links', { ...body, projectId: other }, { session });
    expect(more).toMatchObject({ statusCode: 404 });
    const shown = await post('/api/v1/console-links', { ...body, hidePayloads: false }, { session });
    expect(shown).toMatchObject({ statusCode: 403, body: { error: { code: 'access.exceeds_own' } } });
    const made = await post('/api/v1/console-links', body, { session });
    const { cookie } = await signIn(made.body.url);
    expect((await get('/api/v1/me', { session: cookie })).body).toMatchObject({
      projectId: own,
      hidePayloads: true,
    });
  });
});

describe('a session', () => {
  const ended = { statusCode: 401, body: { error: { code: 'session.ended' } } };

  it('a session ends twelve hours after the sign-in, and after two hours without use', async () => {
    for (const column of ['expires_at', 'last_used_at']) {
      const session = await makeSession('viewer');
      const { body } = await get('/api/v1/me', { session });
      const hours = (Date.parse(body.expiresAt) - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(11.9);
      expect(hours).toBeLessThanOrEqual(12);
      const setBack = column === 'expires_at' ? 'now()' : "now() - interval '2 hours'";
      await sql.query(`update sessions set ${column} = ${setBack} where id = $1`, [body.id]);
      const answer = await get('/api/v1/me', { session });
      expect(answer).toMatchObject(ended);
      // A tab that still polls with the old cookie must not delete the one that a sign-in in another tab has just set.
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  it('a sign-in ends the session that it replaces in the same browser, and a sign-in that is refused ends none', async () => {
    const first = await makeSession('viewer', { subject: 'first@example.com' });
    const other = await makeSession('viewer', { subject: 'first@example.com' });
    const link = await makeLink('operator', { subject: 'second@example.com' });
    const used = await makeLink('viewer');
    await signIn(used);
    expect(await signIn(used, { cookie: first })).toMatchObject({ statusCode: 410 });
    expect(await get('/api/v1/me', { session: first })).toMatchObject({ statusCode: 200 });

    const { body } = await get('/api/v1/me', { session: first });
    const { cookie } = await signIn(link, { cookie: `theme=dark; ${first}` });
    expect(await get('/api/v1/me', { session: first })).toMatchObject(ended);
    expect((await get('/api/v1/me', { session: cookie })).body).toMatchObject({ name: 'second@example.com' });
    expect(await get('/api/v1/me', { session: other })).toMatchObject({ statusCode: 200 });
    const { rows } = await sql.query(
      "select actor from admin_log where action = 'session.revoke' and target = $1",
      [body.id],
    );
    expect(rows).toEqual([{ actor: 'session:second@example.com' }]);
  });

  it('a session that is used within two hours stays active', async () => {
    const session = await makeSession('viewer');
    const { body } = await get('/api/v1/me', { session });
    await sql.query("update sessions set last_used_at = now() - interval '119 minutes' where id = $1", [
      body.id,
    ]);
    await get('/api/v1/me', { session });
    const { rows } = await sql.query(
      "select last_used_at > now() - interval '1 minute' as used from sessions where id = $1",
      [body.id],
    );
    expect(rows).toEqual([{ used: true }]);
  });

  it('a session is listed, and a revoked one is refused from its next request on', async () => {
    const session = await makeSession('viewer', { subject: 'otto@example.com' });
    const { body } = await get('/api/v1/me', { session });
    const listed = await get('/api/v1/sessions');
    expect(listed.body.items[0]).toMatchObject({
      id: body.id,
      subject: 'otto@example.com',
      status: 'active',
      createdBy: 'cli:test',
    });
    expect((await remove(`/api/v1/sessions/${body.id}`)).body).toMatchObject({ status: 'revoked' });
    expect(await get('/api/v1/me', { session })).toMatchObject(ended);
  });

  it('a sign-out ends its own session alone', async () => {
    const [one, other] = [await makeSession('viewer'), await makeSession('viewer')];
    expect(await remove('/api/v1/sessions/current', { session: one })).toMatchObject({ statusCode: 200 });
    expect(await get('/api/v1/me', { session: one })).toMatchObject(ended);
    expect(await get('/api/v1/me', { session: other })).toMatchObject({ statusCode: 200 });
    expect(await remove('/api/v1/sessions/current')).toMatchObject({ statusCode: 403 });
  });

  it('the sessions and unused links of a subject end together; those of others and the caller’s own stay', async () => {
    const mine = await makeSession('admin', { subject: 'x' });
    const [first, second, other] = await Promise.all([
      makeSession('viewer', { subject: 'x' }),
      makeSession('viewer', { subject: 'x' }),
      makeSession('viewer', { subject: 'y' }),
    ]);
    const unused = await makeLink('viewer', { subject: 'x' });
    expect((await remove('/api/v1/sessions?subject=x', { session: mine })).body).toEqual({ count: 2 });
    for (const session of [first, second]) expect(await get('/api/v1/me', { session })).toMatchObject(ended);
    for (const session of [mine, other]) {
      expect(await get('/api/v1/me', { session })).toMatchObject({ statusCode: 200 });
    }
    expect(await signIn(unused)).toMatchObject({ body: { error: { code: 'console_link.expired' } } });
  });

  it('the subject of a session is the actor of its changes; the admin log has the link, the sign-in and the revocation', async () => {
    const session = await makeSession('admin', { subject: 'eva@example.com' });
    const { body: me } = await get('/api/v1/me', { session });
    const created = await post('/api/v1/projects', { name: 'by a session' }, { session });
    await remove(`/api/v1/sessions/${me.id}`, { session });
    const { rows } = await sql.query(
      `select actor, action from admin_log where target in ($1, $2)
         or action = 'console_link.create' and details->'after'->>'subject' = 'eva@example.com' and actor = 'cli:test'
       order by created_at, id`,
      [me.id, created.body.project.id],
    );
    expect(rows).toEqual([
      { actor: 'cli:test', action: 'console_link.create' },
      { actor: 'session:eva@example.com', action: 'session.create' },
      { actor: 'session:eva@example.com', action: 'project.create' },
      { actor: 'session:eva@example.com', action: 'session.revoke' },
    ]);
  });

  it('a session gets the same answer to a POST with the same Idempotency-Key, and another caller does not', async () => {
    const session = await makeSession('admin');
    const headers = { 'idempotency-key': 'once' };
    const first = await post('/api/v1/projects', { name: 'once' }, { session, headers });
    const again = await post('/api/v1/projects', { name: 'once' }, { session, headers });
    expect(again.body).toEqual(first.body);
    const others = await post('/api/v1/projects', { name: 'once' }, { headers });
    expect(others.body.project.id).not.toBe(first.body.project.id);
  });
});

describe('a page of another site', () => {
  const foreign = { statusCode: 403, body: { error: { code: 'request.foreign_origin' } } };

  it.each([
    ['without the header of the pages', { 'x-hqrelay-console': '' }],
    ['with its own origin', { origin: 'https://evil.example' }],
    ['with the opaque origin of a sandbox', { origin: 'null' }],
    ['with the port of another server', { origin: 'http://127.0.0.1:1' }],
  ])(
    'a page of another site cannot make a change with the cookie of a session: a POST %s is refused',
    async (_what, headers) => {
      const session = await makeSession('admin');
      const before = await sql.query('select count(*) from projects');
      expect(await post('/api/v1/projects', { name: 'evil' }, { session, headers })).toMatchObject(foreign);
      expect((await sql.query('select count(*) from projects')).rows).toEqual(before.rows);
    },
  );

  it('a page of another site cannot sign a browser in to a session of its own', async () => {
    const link = await makeLink('admin');
    const response = await fetch(`${url}/api/v1/sessions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hqrelay-console': '1',
        origin: 'https://evil.example',
      },
      body: JSON.stringify({ token: new URL(link).hash.slice(1) }),
    });
    expect(response.status).toBe(403);
    expect(await signIn(link)).toMatchObject({ statusCode: 201 });
  });

  it('a program with an API key makes changes without an origin', async () => {
    const key = await makeKey('admin');
    expect(await post('/api/v1/projects', { name: 'p' }, { key })).toMatchObject({ statusCode: 201 });
  });
});

it('no token of a link or a session appears in a table, in the log or in admin_log', async () => {
  const link = await makeLink('viewer');
  const { cookie } = await signIn(link);
  await get('/api/v1/me', { session: cookie });
  const { rows } = await sql.query(
    `select (select json_agg(l) from console_links l)::text as links, (select json_agg(s) from sessions s)::text as sessions,
       (select json_agg(a) from admin_log a)::text as log`,
  );
  const seen = JSON.stringify(rows) + log.join('\n');
  for (const token of [new URL(link).hash.slice(1), cookie.split('=')[1] as string]) {
    expect(token).toMatch(/^hq[ls]_/);
    expect(seen).not.toContain(token);
  }
});

it('sign-ins with unknown links from one address are answered 429 after a burst', async () => {
  const statuses = new Set<number>();
  for (let sent = 0; sent < 40; sent += 1) {
    statuses.add((await signIn(`${url}/sign-in#hql_${'b'.repeat(43)}`)).statusCode);
  }
  expect(statuses).toEqual(new Set([404, 429]));
});
