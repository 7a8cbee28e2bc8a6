import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openBrowserWorld } from './browser-world.ts';

const { url, sql, post, makeLink, openContext, signIn } = await openBrowserWorld();

const attack = `"'><img src=x onerror=alert(1)><svg onload=alert(2)><script>alert(3)</script>{{7*7}}javascript:alert(4)`;

/** A project whose every text that a stranger writes is an attack. */
async function makeHostileProject() {
  const { body } = await post('/api/v1/projects', { name: attack });
  const projectId = body.project.id as string;
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, {
    url: `http://127.0.0.1:9/${encodeURIComponent(attack)}?q=<script>alert(5)</script>`,
  });
  const endpointId = added.body.endpoint.id as string;
  const payload = {
    payload: Buffer.from(JSON.stringify({ [attack]: attack })),
    headers: [
      ['content-type', 'text/html'],
      ['x-attack', attack],
    ] as [string, string][],
    query: `a=${attack}`,
  };
  const webhook = await recordWebhook(
    sql,
    { projectId, endpointIds: [endpointId], webhookId: attack, eventType: attack, correlationId: attack },
    payload,
  );
  await sql.query(
    `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, status_code,
       error, response_body, latency_ms, correlation_id, attempted_at)
     values ($1, $2, $3, $4, $5, 'live', 1, 'failed', 500, null, $6, 5, $6, now())`,
    [newId(Date.now()), deliveryId(webhook, endpointId), webhook, projectId, endpointId, attack],
  );
  return { projectId, endpointId, webhook };
}

it(
  'what strangers write is shown as text on every page, and no script of theirs runs',
  { timeout: 300_000 },
  async () => {
    const { projectId, endpointId, webhook } = await makeHostileProject();
    const { context, faults } = await openContext();
    const page = await context.newPage();
    await signIn(page, await makeLink('admin', { subject: attack }));
    const project = `/projects/${projectId}`;
    const pages = [
      '/',
      project,
      `${project}/webhooks`,
      `${project}/webhooks/${webhook}`,
      `${project}/endpoints`,
      `${project}/endpoints/${endpointId}`,
      `${project}/dead-letters`,
      `${project}/insights`,
      `${project}/alerts`,
      `${project}/settings`,
      '/admin-log',
      `/search?q=${encodeURIComponent('<script>alert(3)</script>')}`,
    ];
    for (const path of pages) {
      await page.goto(url + path);
      await page.getByText('<script>alert(3)</script>').first().waitFor();
      expect(await page.locator('img[src="x"], svg[onload]').count()).toBe(0);
    }
    expect(faults).toEqual([]);
  },
);
