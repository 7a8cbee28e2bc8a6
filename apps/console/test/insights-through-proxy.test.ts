import { messageOf, startModelServer } from '@hqrelay/testing/model/model-server';
import { startConnectProxy } from '@hqrelay/testing/network/connect-proxy';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { afterAll, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const model = await startModelServer();
const proxy = await startConnectProxy(Number(new URL(model.baseUrl).port));
afterAll(() => Promise.all([model.close(), proxy.shut()]));
const { sql, get, post, createProject } = await openConsoleWorld({
  ANTHROPIC_API_KEY: 'sk-planted-key',
  ANTHROPIC_BASE_URL: 'http://model.invalid',
  EGRESS_PROXY: proxy.url,
});

it('with EGRESS_PROXY the summary of the model comes through the proxy', async () => {
  const projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/hooks' });
  const endpointId = added.body.endpoint.id as string;
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  await recordAttempt(sql, { projectId, webhookLogId, endpointId, statusCode: 500, error: 'HTTP 500' });
  model.answerWith(({ body }) => {
    const findingId = /endpoint_failing-[0-9a-f]{10}/.exec(body.toString())?.[0] ?? '';
    const summary = [{ text: 'It is down.', findingIds: [findingId] }];
    return messageOf(JSON.stringify({ summary, causes: [], nextSteps: [] }));
  });
  const { body } = await get(`/v1/dashboard/insights/${projectId}`);
  expect(body).toMatchObject({ summary: expect.stringContaining('It is down.'), note: null });
  expect(proxy.asked).toEqual(['model.invalid:80']);
});
