import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, makeKey, createProject } = await openConsoleWorld();

/** A project whose endpoint answered one webhook with HTTP 500. */
async function failOnce() {
  const projectId = await createProject();
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, {
    url: 'http://127.0.0.1:9/hooks?token=hunter2',
  });
  const endpointId = added.body.endpoint.id as string;
  const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
  const answer = { statusCode: 500, error: 'HTTP 500', responseBody: 'the database is locked' };
  await recordAttempt(sql, { projectId, webhookLogId, endpointId, ...answer });
  return { webhookLogId, path: `/v1/dashboard/insights/${projectId}` };
}

it('a viewer reads which endpoint fails and why, with an example and the SQL that finds it, and no summary without a model', async () => {
  const { webhookLogId, path } = await failOnce();
  const { statusCode, body } = await get(path, { key: await makeKey('viewer') });
  expect(statusCode).toBe(200);
  expect(body).toMatchObject({ summary: null, causes: [], nextSteps: [], note: null });
  expect(body.findings).toHaveLength(1);
  const [finding] = body.findings;
  expect(finding).toMatchObject({ kind: 'endpoint_failing', exampleIds: [webhookLogId] });
  expect(finding.text).toContain('http://127.0.0.1:9/hooks failed 1 attempt with HTTP 500');
  expect(finding.text).toContain('Its newest answer began “the database is locked”.');
  const { rows } = await sql.query(finding.sql);
  expect(rows).toMatchObject([{ webhook_log_id: webhookLogId, response_body: 'the database is locked' }]);
  expect(JSON.stringify(body)).not.toContain('hunter2');
  expect((await get(path)).body.findings[0].id).toBe(finding.id);
});

it('a key that hides payloads reads the finding without what the endpoint answered', async () => {
  const { path } = await failOnce();
  const { body } = await get(path, { key: await makeKey('viewer', { hidePayloads: true }) });
  expect(body.findings[0].text).toContain('HTTP 500');
  expect(JSON.stringify(body)).not.toContain('locked');
});

it('a period that is named is looked at alone, and one that is too long or empty is refused', async () => {
  const { path } = await failOnce();
  const at = (ms: number) => encodeURIComponent(new Date(Date.now() + ms).toISOString());
  const days = 86_400_000;
  const earlier = await get(`${path}?since=${at(-3 * days)}&until=${at(-days)}`);
  expect(earlier.body.findings).toEqual([]);
  expect(Date.parse(earlier.body.since) % 1_800_000).toBe(0);
  for (const query of [`since=${at(-40 * days)}`, `since=${at(0)}&until=${at(-days)}`]) {
    expect(await get(`${path}?${query}`)).toMatchObject({
      statusCode: 400,
      body: { error: { code: 'insights.period', message: expect.stringContaining('query.since') } },
    });
  }
});
