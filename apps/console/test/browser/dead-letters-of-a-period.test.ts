import { insertDeadLetters } from '@hqrelay/db/queries/dead-letters';
import { deliveryId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld, phone } from './browser-world.ts';

const { url, sql, get, post, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

async function makeDeadLetters(projectId: string, deaths: readonly number[]) {
  const added = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/dead' });
  const endpointId = added.body.endpoint.id as string;
  for (const deadAt of deaths) {
    const webhookLogId = await recordWebhook(sql, { projectId, endpointIds: [endpointId] });
    const id = deliveryId(webhookLogId, endpointId);
    const letter = { id, kind: 'delivery' as const, reason: 'used up', projectId, webhookLogId, endpointId };
    await insertDeadLetters(sql, [{ ...letter, content: null }], deadAt);
  }
}

it('on a phone, the dead letters of a period are listed and replayed, and the others stay', async () => {
  const projectId = await createProject({ name: 'Dead' });
  const now = Date.now();
  await makeDeadLetters(projectId, [now - 3_600_000, now - 7_200_000, now - 3 * 86_400_000]);
  const { context, faults } = await openContext({ viewport: phone });
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/dead-letters`);
  const rows = page.getByRole('main').getByRole('listitem').filter({ hasText: 'after' });
  await rows.nth(2).waitFor();
  await page.getByLabel('Died in').selectOption('24h');
  await page.waitForURL('**/dead-letters?last=24h');
  await rows.nth(2).waitFor({ state: 'detached' });
  await expect.poll(() => rows.count()).toBe(2);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Replay all …' }).click();
  await page.getByText('2 dead letters are sent again').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Replay 2' }).click();
  await page.getByText('0 of 2 sent again').waitFor();
  const [job] = (await get(`/api/v1/projects/${projectId}/replay-jobs`)).body.items;
  expect(job).toMatchObject({ count: 2, selection: { kind: 'dead_letters' } });
  expect(faults).toEqual([]);
});

it('the second page of a period is the same after a reload', async () => {
  const projectId = await createProject({ name: 'Pages' });
  const now = Date.now();
  await makeDeadLetters(
    projectId,
    Array.from({ length: 51 }, (_, index) => now - 1_000 * (index + 1)),
  );
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}/dead-letters?last=7d`);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.waitForURL('**cursor=**');
  // A minute later the period begins a minute later; the page keeps the one of its URL.
  await page.clock.setFixedTime(now + 120_000);
  await page.reload();
  await page.getByRole('button', { name: 'Newest' }).waitFor();
  const rows = page.getByRole('main').getByRole('listitem').filter({ hasText: 'after' });
  await expect.poll(() => rows.count()).toBe(1);
  expect(faults).toEqual([]);
});
