import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { afterAll, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, post, patch, makeKey, createProject } = await openConsoleWorld();
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());
const refused = { statusCode: 403, body: { error: { code: 'access.hides_payloads' } } };

it('a key that hides payloads cannot add an endpoint of its own, not even an admin', async () => {
  const projectId = await createProject();
  const key = await makeKey('admin', { hidePayloads: true });
  const path = `/api/v1/projects/${projectId}/endpoints`;
  expect(await post(path, { url: endpoint.url }, { key })).toMatchObject(refused);
  expect((await sql.query('select from endpoints where project_id = $1', [projectId])).rowCount).toBe(0);
});

it.each([
  ['url', 'http://127.0.0.1:9/mine'],
  ['headers', [{ name: 'X-Forward-To', value: 'me' }]],
  ['forwardCredentials', true],
  ['caCertificates', null],
  ['clientCertificate', null],
])('a key that hides payloads cannot change the %s of an endpoint', async (field, value) => {
  const projectId = await createProject();
  const path = `/api/v1/projects/${projectId}/endpoints`;
  const added = await post(path, { url: endpoint.url });
  const key = await makeKey('operator', { hidePayloads: true });
  const one = `${path}/${added.body.endpoint.id}`;
  expect(await patch(one, { [field]: value, timeoutMs: 5_000 }, { key })).toMatchObject(refused);
  expect(await patch(one, { timeoutMs: 5_000 }, { key })).toMatchObject({
    statusCode: 200,
    body: { timeoutMs: 5_000, url: added.body.endpoint.url },
  });
});

it('a key that hides payloads replays a webhook to the endpoints that others chose', async () => {
  const projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: endpoint.url });
  const webhook = await recordWebhook(sql, { projectId, endpointIds: [added.body.endpoint.id] });
  const key = await makeKey('operator', { hidePayloads: true });
  expect(await post(`/api/v1/webhooks/${webhook}/replay`, {}, { key })).toMatchObject({ statusCode: 202 });
});
