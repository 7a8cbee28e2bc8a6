import { newId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld } from './browser-world.ts';

const { url, sql, post, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('the overview shows what each endpoint got, and its figures lead to the webhooks behind them', async () => {
  const projectId = await createProject({ name: 'Busy' });
  const endpointIds: string[] = [];
  for (const path of ['orders', 'ledger']) {
    const { body } = await post(`/api/v1/projects/${projectId}/endpoints`, {
      url: `http://127.0.0.1:9/${path}`,
    });
    endpointIds.push(body.endpoint.id as string);
  }
  const at = Date.now() - 5_000;
  for (const [index, endpointId] of [...endpointIds, endpointIds[0]!].entries()) {
    const id = newId(at + index);
    await recordWebhook(sql, { id, projectId, endpointIds: [endpointId], eventType: `event.${index}` });
    const delivered = { status: 'delivered' as const, statusCode: 200, error: null, nextAttemptAt: null };
    await recordAttempt(sql, { projectId, webhookLogId: id, endpointId, id: newId(at + 500), ...delivered });
  }
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}`);
  const chart = page.getByRole('figure').filter({ hasText: '127.0.0.1:9/ledger' });
  await chart.getByText('As a table').click();
  await expectAccessible(page);
  await chart.getByRole('link', { name: '2', exact: true }).first().click();
  await page.waitForURL((to) => to.searchParams.get('endpointId') === endpointIds[0]);
  await page.getByText('event.2').waitFor();
  await page.getByText('event.0').waitFor();
  expect(await page.getByText('event.1').count()).toBe(0);

  await page.goto(`${url}/projects/${projectId}`);
  await page.getByRole('link', { name: '100% of 1 attempt delivered' }).click();
  await page.getByText('event.1').waitFor();
  expect(await page.getByText('event.0').count()).toBe(0);
  expect(faults).toEqual([]);
});
