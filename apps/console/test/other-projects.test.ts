import { apiRoles, includesRole, type ApiRole } from '@hqrelay/domain/access/api-role';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../src/api/route.ts';
import { routes } from '../src/routes/routes.ts';
import { openConsoleWorld } from './console-world.ts';

const { sql, request, post, get, makeKey, makeLink, makeSession, signIn, createProject } =
  await openConsoleWorld();

type Caller = { key: string } | { session: string };
const callerKinds = ['key', 'session'] as const;

async function makeCaller(
  kind: (typeof callerKinds)[number],
  role: ApiRole,
  options: { projectId?: string } = {},
): Promise<Caller> {
  return kind === 'key'
    ? { key: await makeKey(role, options) }
    : { session: await makeSession(role, options) };
}

/** One thing of each kind that a path may name. */
type Things = {
  projectId: string;
  endpointId: string;
  secretId: string;
  webhook: string;
  /** Waits for its second attempt. */
  deliveryId: string;
  replay_job: string;
  api_key: string;
  session: string;
  alertId: string;
};

let own: Things;
let other: Things;

beforeAll(async () => {
  own = await makeThings();
  other = await makeThings();
});

async function makeThings(): Promise<Things> {
  const projectId = await createProject();
  const base = `/api/v1/projects/${projectId}`;
  const endpoint = await post(`${base}/endpoints`, { url: 'http://127.0.0.1:9/' });
  const endpointId = endpoint.body.endpoint.id as string;
  const webhook = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     values ($1, 'delivery', 'schedule used up', $2, $3, $4, now())`,
    [deliveryId(webhook, endpointId), projectId, webhook, endpointId],
  );
  const waiting = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  const waitingId = await recordAttempt(sql, { projectId, webhookLogId: waiting, endpointId });
  const job = await post(`${base}/replays`, { filter: { state: 'dead_lettered' } });
  const apiKey = await post('/api/v1/api-keys', { name: 'k', role: 'viewer', projectId });
  const alert = await post(`${base}/alerts`, { on: ['dead_letter'], email: 'ops@example.com' });
  const secret = await get(`${base}/secrets`);
  return {
    projectId,
    endpointId,
    secretId: secret.body.items[0].id,
    webhook,
    deliveryId: waitingId,
    replay_job: job.body.jobId,
    api_key: apiKey.body.apiKeyId,
    session: await makeSessionId(projectId),
    alertId: alert.body.alert.id,
  };
}

async function makeSessionId(projectId: string): Promise<string> {
  const { cookie } = await signIn(await makeLink('viewer', { projectId }));
  return (await get('/api/v1/me', { session: cookie })).body.id as string;
}

function send(route: Route, things: Things, caller: Caller, parent: Things = things) {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
    const named = route.names?.[param] ?? '';
    if (named === 'project') return parent.projectId;
    return things[(param === 'id' ? named : param) as keyof Things];
  });
  const body = route.body && (route.example ?? {});
  const queries: Record<string, string> = { search: `?q=${other.webhook}`, streamLive: '?seconds=1' };
  const query = queries[route.name] ?? '';
  return request(route.method.toUpperCase(), path + query, { ...caller, ...(body && { body }) });
}

const cases = routes.flatMap((route) =>
  apiRoles.flatMap((role) => callerKinds.map((kind) => [route.name, kind, role, route] as const)),
);

describe('access by role and project', () => {
  it('every parameter of a path says what it names', () => {
    for (const { path, names = {}, params } of routes) {
      const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param));
      expect(new Set(Object.keys(names))).toEqual(inPath);
      expect(new Set(Object.keys(params?.shape ?? {}))).toEqual(inPath);
    }
  });

  it.each(cases.filter(([, , , { path }]) => path.includes('{')))(
    '%s with a %s of the role %s and the ids of another project is answered 404 and changes nothing',
    async (_name, kind, role, route) => {
      const caller = await makeCaller(kind, role, { projectId: own.projectId });
      const before = await changesOf(other);
      const answer = await send(route, other, caller);
      expect(answer.statusCode).toBe(404);
      expect(answer.body.error.code).toMatch(/\.not_found$/);
      if (Object.keys(route.names ?? {}).length > 1) {
        expect((await send(route, other, caller, own)).statusCode).toBe(404);
        expect((await send(route, own, caller, other)).statusCode).toBe(404);
        // Also a caller of all projects finds a thing under its own project alone.
        expect((await send(route, other, await makeCaller(kind, role), own)).statusCode).toBe(404);
      }
      expect(await changesOf(other)).toBe(before);
    },
  );

  it.each(cases.filter(([, kind, , { needsSession }]) => !needsSession || kind === 'session'))(
    '%s with a %s of the role %s is done where the role may, and else answered 403',
    async (_name, kind, role, route) => {
      const caller = await makeCaller(kind, role);
      const isAllowed = includesRole(role, route.role);
      const things = isAllowed && route.path.includes('{') ? await makeThings() : own;
      const answer = await send(route, things, caller);
      if (isAllowed) expect(answer.statusCode).toBe(route.statusCode);
      else
        expect(answer).toMatchObject({ statusCode: 403, body: { error: { code: 'access.role_too_low' } } });
    },
  );

  it.each(
    routes
      .filter(({ path, method }) => !path.includes('{') && method === 'get')
      .flatMap((route) => callerKinds.map((kind) => [route.name, kind, route] as const)),
  )('%s with a %s of one project says nothing about another project', async (_name, kind, route) => {
    const answer = await send(route, own, await makeCaller(kind, 'admin', { projectId: own.projectId }));
    expect(answer.statusCode).toBe(200);
    for (const id of Object.values(other)) expect(JSON.stringify(answer.body)).not.toContain(id);
  });
});

async function changesOf({ projectId }: Things): Promise<string> {
  const { rows } = await sql.query(
    'select count(*)::text as changes, (select config_version from projects where id = $1) as version from admin_log where project_id = $1',
    [projectId],
  );
  return JSON.stringify(rows);
}
