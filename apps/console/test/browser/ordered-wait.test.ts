import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordAttempt } from '@hqrelay/testing/database/record-attempt';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld } from './browser-world.ts';

const { url, sql, post, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('a delivery that waits for its turn names the webhook that it is behind, and leads there', async () => {
  const projectId = await createProject({ name: 'Ordered' });
  const { body } = await post(`/api/v1/projects/${projectId}/endpoints`, {
    url: 'http://127.0.0.1:9/ordered',
    orderingKey: '/order',
  });
  const endpointId = body.endpoint.id as string;
  const ids = [newId(Date.now() - 2_000), newId(Date.now() - 1_000)] as const;
  for (const [index, id] of ids.entries()) {
    const event = { id, projectId, endpointIds: [endpointId], eventType: `order.step${index + 1}` };
    await recordWebhook(sql, event);
    await sql.query(
      `insert into ordered_deliveries (delivery_id, webhook_log_id, endpoint_id, ordering_key, sequence, accepted_at_us)
       values ($1, $2, $3, '12345', $4, 1)`,
      [deliveryId(id, endpointId), id, endpointId, index + 1],
    );
  }
  await recordAttempt(sql, { projectId, webhookLogId: ids[0], endpointId });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}/webhooks/${ids[1]}`);
  const behind = page.getByText('of the key 12345');
  await behind.waitFor();
  expect(await behind.textContent()).toContain(`Behind ${ids[0]} of the key 12345: waiting, next attempt in`);
  await expectAccessible(page);
  await page.getByRole('link', { name: ids[0] }).click();
  await page.getByRole('heading', { name: 'order.step1' }).waitFor();
  await page.getByText('It is the next one of the key 12345.').waitFor();
  expect(faults).toEqual([]);
});
