import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, patch, makeKey, createProject } = await openConsoleWorld();

async function projectWithEndpoint() {
  const projectId = await createProject();
  const path = `/api/v1/projects/${projectId}`;
  const added = await post(`${path}/endpoints`, { url: 'http://127.0.0.1:9/' });
  const endpointId = added.body.endpoint.id as string;
  return { projectId, path, endpointId, endpointPath: `${path}/endpoints/${endpointId}` };
}

it('an endpoint is archived: disabled, hidden from lists, and never changed again', async () => {
  const { path, endpointPath, endpointId } = await projectWithEndpoint();
  const archived = await post(`${endpointPath}/archive`);
  expect(archived).toMatchObject({
    statusCode: 200,
    body: { enabled: false, disabledReason: 'archived', archivedAt: expect.any(String) },
  });
  expect((await get(`${path}/endpoints`)).body.items).toEqual([]);
  expect((await get(`${path}/endpoints?archived=true`)).body.items).toMatchObject([{ id: endpointId }]);
  const refused = { statusCode: 409, body: { error: { code: 'endpoint.archived' } } };
  expect(await post(`${endpointPath}/archive`)).toMatchObject(refused);
  expect(await post(`${endpointPath}/enable`)).toMatchObject(refused);
  expect(await patch(endpointPath, { timeoutMs: 5_000 })).toMatchObject(refused);
  const { rows } = await sql.query('select action from admin_log where target = $1 order by id', [
    endpointId,
  ]);
  expect(rows.map(({ action }) => action)).toEqual(['endpoint.add', 'endpoint.archive']);
});

it('a project is archived with its endpoints and its running replay jobs, by an admin alone', async () => {
  const { projectId, path, endpointPath, endpointId } = await projectWithEndpoint();
  const key = await makeKey('operator');
  expect(await post(`${path}/archive`, {}, { key })).toMatchObject({ statusCode: 403 });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const job = await post(`${path}/replays`, { endpointId, since });
  expect(await post(`${path}/archive`)).toMatchObject({
    statusCode: 200,
    body: { enabled: false, archivedAt: expect.any(String) },
  });
  expect((await get(endpointPath)).body).toMatchObject({ enabled: false, archivedAt: expect.any(String) });
  expect((await get(`/api/v1/replay-jobs/${job.body.jobId}`)).body).toMatchObject({ state: 'cancelled' });
  const listed = await get('/api/v1/projects?limit=200');
  expect(listed.body.items.map(({ id }: { id: string }) => id)).not.toContain(projectId);
  expect(await patch(path, { name: 'x' })).toMatchObject({
    statusCode: 409,
    body: { error: { code: 'project.archived' } },
  });
});
