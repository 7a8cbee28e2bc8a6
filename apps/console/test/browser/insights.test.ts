import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { messageOf, startModelServer } from '@hqrelay/testing/model/model-server';
import { afterAll, expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld, phone } from './browser-world.ts';

const model = await startModelServer();
afterAll(() => model.close());
const { url, sql, post, makeLink, openContext, signIn } = await openBrowserWorld({
  ANTHROPIC_API_KEY: 'sk-test',
  ANTHROPIC_BASE_URL: model.baseUrl,
});

async function failOnce() {
  const { body } = await post('/api/v1/projects', { name: 'Shop' });
  const projectId = body.project.id as string;
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/hooks' });
  const endpointId = added.body.endpoint.id as string;
  const webhook = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  const responseBody = '<img src=x onerror=alert(1)> locked';
  const failed = { statusCode: 500, error: 'HTTP 500', responseBody };
  await recordAttempt(sql, { projectId, webhookLogId: webhook, endpointId, ...failed });
  return { projectId, webhook };
}

it(
  'a person reads which endpoint fails and why, opens an example, and sees the SQL and what the model made of it',
  { timeout: 300_000 },
  async () => {
    const { projectId, webhook } = await failOnce();
    model.answerWith(({ body }) => {
      const { messages } = JSON.parse(body.toString()) as { messages: [{ content: string }] };
      const { findings } = JSON.parse(messages[0].content) as { findings: { id: string }[] };
      const cited = { text: 'The table of the shop is locked.', findingIds: findings.map(({ id }) => id) };
      return messageOf(JSON.stringify({ summary: [cited], causes: [cited], nextSteps: [] }));
    });
    const { context, faults } = await openContext({ viewport: phone });
    const page = await context.newPage();
    await signIn(page, await makeLink('viewer', { projectId }));
    await page.goto(`${url}/projects/${projectId}`);
    await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Insights' }).click();
    await page.getByText('http://127.0.0.1:9/hooks failed 1 attempt with HTTP 500').waitFor();
    await page.getByText('<img src=x onerror=alert(1)> locked').waitFor();
    await page.getByText('Summary, written by a model').waitFor();
    await expect.poll(() => page.getByText('The table of the shop is locked.').count()).toBe(2);
    await page.getByText('SQL to look further').click();
    await page.getByText('FROM delivery_attempts').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: webhook }).click();
    await page.waitForURL(`${url}/projects/${projectId}/webhooks/${webhook}`);
    expect(faults).toEqual([]);
  },
);
