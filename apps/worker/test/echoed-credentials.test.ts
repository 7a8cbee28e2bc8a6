import { freshId } from '@hqrelay/testing/fresh-id';
import { startRecordingEndpoint, type RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();
let endpoint: RecordingEndpoint;

beforeAll(async () => {
  endpoint = await startRecordingEndpoint();
});

afterAll(async () => {
  await endpoint.close();
});

it('credentials that an endpoint repeats in its answer are neither recorded nor logged', async () => {
  const project = await seedProject(world);
  const { id: endpointId, signingSecret } = await seedEndpoint(world, project.id, {
    url: endpoint.url,
    retry: '1h',
    forwardCredentials: true,
    fixedHeaders: [['X-Customer-Key', 'customer-key-of-the-endpoint']],
  });
  endpoint.answerWith(({ headers }) => ({
    statusCode: 401,
    body: JSON.stringify({ message: `bad credentials, not ${signingSecret}`, headers }),
  }));
  const { rows } = await world.sql.query<{ id: string }>(
    'select id from project_secrets where project_id = $1',
    [project.id],
  );
  const secretId = rows[0]!.id;
  const id = freshId();
  const credentials = [{ name: 'Authorization', secretId, before: 'Bearer ', after: '' }];
  await world.send(world.message(project.id, { id, endpointIds: [endpointId], credentials }));
  const [attempt] = await world.waitForAttempts(id, 1);
  const [request] = endpoint.requests;
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${project.secret}`,
    'x-customer-key': 'customer-key-of-the-endpoint',
  });
  const signature = String(request?.headers['webhook-signature']);
  expect(attempt).toMatchObject({ status: 'failed', status_code: 401 });
  expect(attempt?.response_body).toContain('bad credentials');
  const recorded = JSON.stringify([attempt, world.logs]);
  for (const secret of [project.secret, signingSecret, 'customer-key-of-the-endpoint', signature.slice(3)]) {
    expect(recorded).not.toContain(secret);
    expect(recorded).not.toContain(secret.replace('whsec_', ''));
  }
});
