import { createApiKey } from '@hqrelay/actions/api-key/create-api-key';
import { startApp } from '@hqrelay/testing/app-process';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { postWebhook } from '@hqrelay/testing/provider';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld } from '@hqrelay/testing/world';
import { afterAll, expect, inject, it } from 'vitest';
import { createDocumentCheck } from './document-check.ts';

const world = await createWorld(inject('run'));
afterAll(() => world.close());
const endpoint = await startRecordingEndpoint();
afterAll(() => endpoint.close());
const [receiver, worker, relayConsole] = await Promise.all(
  (['receiver', 'worker', 'console'] as const).map(async (name) => {
    const app = await startApp(name, { env: world.env });
    afterAll(() => app.end());
    await app.waitUntilReady();
    return app;
  }),
);

/** Calls operations by their ids, as a program does that knows the OpenAPI document and a key alone. */
async function openProgram(key: string) {
  const url = relayConsole!.url;
  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const check = createDocumentCheck(document);
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ template, method, operationId })),
  );
  return async (
    operationId: string,
    ids: Record<string, string>,
    body?: object,
  ): Promise<ReturnType<typeof JSON.parse>> => {
    const { template, method } = operations.find((each) => each.operationId === operationId)!;
    const query = new URLSearchParams(
      Object.entries(ids).filter(([name]) => !template.includes(`{${name}}`)),
    );
    const path = `${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!)}?${query.toString()}`;
    const response = await fetch(url + path, {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    check({ method, path, statusCode: response.status, type: 'application/json', body: answer });
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

it('a program with the document and a key alone finds a webhook by its payload, sees why it waits, repairs its endpoint and retries it', async () => {
  const made = await createApiKey(
    { pool: world.sql, actor: 'cli:test' },
    { name: 'program', role: 'admin', projectId: null, hidePayloads: false, expiresInMs: 3_600_000 },
  );
  const call = await openProgram(made.kind === 'done' ? made.value.key : '');
  endpoint.answerWith(({ path }) => ({ statusCode: path === '/repaired' ? 200 : 500, body: 'out of order' }));

  const { project, secret } = await call('createProject', {}, { name: 'Shop' });
  const projectId = project.id as string;
  const added = await call('addEndpoint', { projectId }, { url: endpoint.url, retrySchedule: ['30m'] });
  const endpointId = added.endpoint.id as string;
  const sender = { id: projectId, secret: secret as string, requireTimestamp: false };
  const sent = await postWebhook(receiver!.url, sender, {
    body: '{"event":"payment.paid","order":"A-4711"}',
  });
  expect(sent.statusCode).toBe(202);

  const found = await waitFor('the webhook in a search', async () => {
    const { items } = await call('listWebhooks', { projectId, q: 'A-4711' });
    return items[0] as { id: string } | undefined;
  });
  const failed = await waitFor('the failed attempt', async () => {
    const details = await call('getWebhook', { id: found.id });
    // The API reads the state of a delivery before its attempts: it may be from before the newest one.
    return details.attempts.length > 0 && details.deliveries[0]?.attempts === 1 && details;
  });
  expect(failed.deliveries).toMatchObject([{ state: 'waiting', attempts: 1, lastError: 'HTTP 500' }]);
  expect(failed.attempts).toMatchObject([{ statusCode: 500, responseBody: 'out of order' }]);
  expect(Date.parse(failed.deliveries[0].nextAttemptAt)).toBeGreaterThan(Date.now());

  await call(
    'updateEndpoint',
    { projectId, endpointId },
    { url: endpoint.url.replace('/hook', '/repaired') },
  );
  const { deliveryId } = failed.deliveries[0];
  expect(await call('retryDeliveryNow', { deliveryId }, {})).toMatchObject({ webhookLogId: found.id });
  const delivered = await waitFor('the delivered attempt', async () => {
    const details = await call('getWebhook', { id: found.id });
    return details.deliveries[0]?.state === 'delivered' && details;
  });
  expect(delivered.attempts).toMatchObject([
    { attemptNum: 1, status: 'failed' },
    { attemptNum: 2, lane: 'retry', status: 'delivered', statusCode: 200 },
  ]);
  expect(endpoint.requests).toHaveLength(2);
  expect(endpoint.requests.at(-1)?.body.toString()).toBe('{"event":"payment.paid","order":"A-4711"}');

  const codes = await Promise.all([relayConsole, receiver, worker].map((app) => app!.end()));
  expect(codes).toEqual([0, 0, 0]);
});
