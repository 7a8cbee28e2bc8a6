import { appendAudit } from '@hqrelay/db/queries/append-audit';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { desktop, expectAccessible, openBrowserWorld, phone } from './browser-world.ts';

const { url, sql, post, makeLink, makeKey, openContext, signIn } = await openBrowserWorld();

/** A project with something on every page. */
async function makeProject() {
  const { body } = await post('/api/v1/projects', {
    name: 'A shop with a name that is longer than a phone is wide',
  });
  const projectId = body.project.id as string;
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, {
    url: 'http://127.0.0.1:9/webhooks/of/a/path/that-is-longer-than-a-phone-is-wide?token=1',
  });
  const endpointId = added.body.endpoint.id as string;
  const payload = Buffer.from(JSON.stringify({ order: 'A-4711', note: 'x'.repeat(300) }));
  const webhook = await recordWebhook(
    sql,
    { projectId, endpointIds: [endpointId], eventType: 'payment.failed' },
    { payload, headers: [['content-type', 'application/json']], query: 'a=1' },
  );
  const attempt = {
    id: newId(Date.now()),
    deliveryId: deliveryId(webhook, endpointId),
    webhookLogId: webhook,
    projectId,
    endpointId,
    lane: 'live' as const,
    attemptNum: 1,
    status: 'dead_lettered' as const,
    statusCode: 503,
    latencyMs: 5,
    error: 'HTTP 503',
    responseBody: 'out of order',
    correlationId: 'c',
    nextAttemptAt: null,
  };
  await appendAudit(sql, [{ kind: 'attempt', attempt }]);
  return { projectId, endpointId, webhook };
}

it(
  'axe finds nothing on any page, in light on a desktop and in dark at 360 px, where no page scrolls sideways',
  { timeout: 300_000 },
  async () => {
    const { projectId, endpointId, webhook } = await makeProject();
    await makeKey('viewer');
    const project = `/projects/${projectId}`;
    const pages = {
      '/': 'Projects',
      [project]: 'Overview',
      [`${project}/webhooks`]: 'Webhooks',
      [`${project}/webhooks?state=held`]: 'Webhooks',
      [`${project}/webhooks/${webhook}`]: 'payment.failed',
      [`${project}/endpoints`]: 'Endpoints',
      [`${project}/endpoints/${endpointId}`]: 'webhooks/of/a/path',
      [`${project}/dead-letters`]: 'Dead letters',
      [`${project}/insights`]: 'Insights',
      [`${project}/alerts`]: 'Alerts',
      [`${project}/settings`]: 'Settings',
      '/admin-log': 'Admin log',
      '/access': 'Access',
      '/search?q=A-4711': 'Search',
      '/search?q=nothing-like-it': 'Search',
      '/no/such/page': 'There is no such page',
    };
    const { context, faults } = await openContext();
    const page = await context.newPage();
    await signIn(page, await makeLink('admin'));
    for (const [path, heading] of Object.entries(pages)) {
      await page.setViewportSize(desktop);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(url + path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'hidden' });
      await expectAccessible(page);
      await page.setViewportSize(phone);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect({ path, fits: width <= phone.width }).toEqual({ path, fits: true });
    }
    expect(faults).toEqual([]);
  },
);

it('the reader of the HTTP API keeps to its policy', async () => {
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await page.goto(`${url}/api/docs/`);
  await page.getByText('createConsoleLink').or(page.getByText('/api/v1/console-links')).first().waitFor();
  expect(faults).toEqual([]);
});
