import type { Page } from '@hqrelay/testing/browser/open-browser';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, expect, it } from 'vitest';
import { dialogOf, expectAccessible } from './browser-world.ts';
import { openRelayWorld } from './relay-world.ts';

const { url, sql, post, endpoint, makeShop, makeLink, openContext, signIn } = await openRelayWorld();
const second = await startRecordingEndpoint();
afterAll(() => second.close());

/** A project with two endpoints that fail, and one dead letter of each of its webhooks at each endpoint. */
async function makeDeadLetters(webhooks: number) {
  for (const each of [endpoint, second]) each.answerWith({ statusCode: 500 });
  const shop = await makeShop({ retrySchedule: ['1s'] });
  const path = `/api/v1/projects/${shop.projectId}/endpoints`;
  await post(path, { url: second.url, retrySchedule: ['1s'] });
  for (let order = 1; order <= webhooks; order += 1) await shop.receive(`D-${order}`);
  await waitFor('the dead letters', async () => {
    const { rows } = await sql.query(
      "select count(*)::int from delivery_attempts where project_id = $1 and status = 'dead_lettered'",
      [shop.projectId],
    );
    return rows[0].count === 2 * webhooks;
  });
  return shop;
}

/** Opens the dialog, waits for its dry run, and replays at a rate. */
async function replayAll(page: Page, { count, perSecond }: { count: number; perSecond: number }) {
  await page.getByRole('button', { name: 'Replay all …' }).click();
  const dialog = dialogOf(page);
  await dialog.getByText(`${count} dead letters`).waitFor();
  await dialog.getByLabel('Per second').fill(String(perSecond));
  await dialog.getByRole('button', { name: `Replay ${count}` }).click();
  await dialog.waitFor({ state: 'hidden' });
}

it(
  'dead letters are filtered by endpoint, counted, replayed at a rate with progress, cancelled, and replayed to the end',
  { timeout: 300_000 },
  async () => {
    const { projectId } = await makeDeadLetters(20);
    const { context, faults } = await openContext();
    const page = await context.newPage();
    await signIn(page, await makeLink('operator', { projectId }));
    await page.goto(`${url}/projects/${projectId}/dead-letters`);
    const rows = page.getByRole('main').getByRole('listitem').filter({ hasText: 'attempts' });
    await waitFor('every dead letter', async () => (await rows.count()) === 40);
    await page.getByLabel('Endpoint').selectOption({ label: endpoint.url });
    await waitFor('those of one endpoint', async () => (await rows.count()) === 20);
    expect(page.url()).toContain('endpointId=');

    await replayAll(page, { count: 20, perSecond: 1 });
    await page.getByRole('progressbar').waitFor();
    // The job waits, so that it does not end before it is cancelled.
    await sql.query("update replay_jobs set next_due_at = now() + interval '1 hour'");
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByText('Cancelled after').waitFor();
    await page.getByText('History (1)').click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    await expectAccessible(page);

    endpoint.answerWith({ statusCode: 200 });
    await page.reload();
    await waitFor('the list', async () => (await rows.count()) > 0);
    const left = await rows.count();
    expect(left).toBeLessThanOrEqual(20);
    const before = endpoint.requests.length;
    await replayAll(page, { count: left, perSecond: 50 });
    await page.getByText('History (2)').click();
    await page.getByText('finished', { exact: true }).waitFor();
    await endpoint.waitForRequests(before + left);
    await page.reload();
    await page.getByText('No dead letter').waitFor();
    expect(second.requests).toHaveLength(40);
    expect(faults).toEqual([]);
  },
);

it('an endpoint that was added late is sent what it missed, after a count', async () => {
  endpoint.answerWith({ statusCode: 200 });
  const { projectId, receive } = await makeShop();
  for (const order of ['M-1', 'M-2', 'M-3']) await receive(order);
  const late = second.url.replace('/hook', '/late');
  second.answerWith({ statusCode: 200 });
  await post(`/api/v1/projects/${projectId}/endpoints`, { url: late });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/dead-letters`);
  await page.getByRole('button', { name: 'Send an endpoint what it missed …' }).click();
  const dialog = dialogOf(page);
  await dialog.getByLabel('Endpoint').selectOption({ label: late });
  await dialog.getByText('It missed 3 webhooks').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Send 3' }).click();
  await waitFor('all three', () => second.requests.filter(({ path }) => path === '/late').length === 3);
  expect(faults).toEqual([]);
});
