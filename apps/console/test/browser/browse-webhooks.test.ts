import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openBrowserWorld } from './browser-world.ts';

const { url, sql, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

async function makeProject() {
  const projectId = await createProject();
  const receive = (eventType: string) => recordWebhook(sql, { projectId, eventType });
  for (const eventType of ['order.first', 'order.paid', 'invoice.sent']) await receive(eventType);
  return { projectId, receive };
}

it('filters are a part of the URL: they survive a reload, and the browser goes back to them', async () => {
  const { projectId } = await makeProject();
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}/webhooks`);
  const rows = page.getByRole('table').getByRole('link');
  await page.getByText('invoice.sent').waitFor();
  await page.getByLabel('Event type').fill('order.paid');
  await page.getByLabel('Event type').press('Enter');
  await page.getByText('1 in this period').waitFor();
  expect(new URL(page.url()).searchParams.get('eventType')).toBe('order.paid');
  await page.reload();
  await page.getByText('1 in this period').waitFor();
  await expect.poll(() => rows.allTextContents()).toEqual(['order.paid']);
  await rows.first().click();
  await page.getByRole('heading', { name: 'order.paid' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Remove Event type: order.paid' }).waitFor();
  await expect.poll(() => rows.allTextContents()).toEqual(['order.paid']);
  await page.getByRole('button', { name: 'Remove Event type: order.paid' }).click();
  await page.getByText('3 in this period').waitFor();
  expect(faults).toEqual([]);
});

it('rows stand still while webhooks arrive, and a button counts the new ones', async () => {
  const { projectId, receive } = await makeProject();
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}/webhooks`);
  const rows = page.getByRole('table').getByRole('link');
  await page.getByText('invoice.sent').waitFor();
  await expect.poll(() => rows.count()).toBe(3);
  const before = await rows.allTextContents();
  await receive('order.fourth');
  await receive('order.fifth');
  await page.getByRole('button', { name: '2 new webhooks' }).waitFor();
  expect(await rows.allTextContents()).toEqual(before);
  await page.getByRole('button', { name: '2 new webhooks' }).click();
  await page.getByText('order.fifth').waitFor();
  await expect.poll(() => rows.allTextContents()).toEqual(['order.fifth', 'order.fourth', ...before]);
  expect(faults).toEqual([]);
});

it('the zone of times and the colours are remembered after a reload', async () => {
  const { projectId } = await makeProject();
  const { context, faults } = await openContext({ timezoneId: 'Asia/Kolkata', colorScheme: 'light' });
  const page = await context.newPage();
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.goto(`${url}/projects/${projectId}/webhooks`);
  await page.getByRole('button', { name: 'Local (UTC+5:30)' }).click();
  const inUtc = page.getByRole('button', { name: 'Times are shown in UTC' });
  await inUtc.waitFor();
  const background = () =>
    page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  const light = await background();
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  await inUtc.waitFor();
  expect(await background()).toBe(dark);
  expect(faults).toEqual([]);
});

it('the first load transfers less than 250 KiB of scripts', async () => {
  const { projectId } = await makeProject();
  const { context, faults } = await openContext();
  const page = await context.newPage();
  const scripts: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script')
      scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await signIn(page, await makeLink('viewer', { projectId }));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(250 << 10);
  expect(faults).toEqual([]);
});
