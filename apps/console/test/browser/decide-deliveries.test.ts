import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { dialogOf, expectAccessible } from './browser-world.ts';
import { openRelayWorld } from './relay-world.ts';

const { url, endpoint, makeShop, makeLink, openContext, signIn } = await openRelayWorld();

it(
  'an endpoint is tested and paused; its webhook says who paused it, and is delivered when the endpoint is resumed',
  { timeout: 300_000 },
  async () => {
    endpoint.answerWith({ statusCode: 200, body: 'welcome' });
    const { projectId, endpointId, receive } = await makeShop();
    const { context, faults } = await openContext();
    const page = await context.newPage();
    await signIn(page, await makeLink('operator', { projectId, subject: 'eva@example.com' }));
    const endpointPage = `${url}/projects/${projectId}/endpoints/${endpointId}`;
    await page.goto(endpointPage);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const dialog = dialogOf(page);
    await dialog.getByText('Answered 200').waitFor();
    await dialog.getByText('welcome').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
    const tested = endpoint.requests.length;

    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const webhook = await receive('P-1');
    await page.goto(`${url}/projects/${projectId}/webhooks/${webhook}`);
    await page.getByText('the endpoint is paused by session:eva@example.com').waitFor();
    await expectAccessible(page);
    expect(endpoint.requests).toHaveLength(tested);

    await page.goto(endpointPage);
    await page.getByRole('button', { name: 'Resume' }).click();
    await endpoint.waitForRequests(tested + 1);
    await page.goto(`${url}/projects/${projectId}/webhooks/${webhook}`);
    await page.getByText('delivered', { exact: true }).first().waitFor();
    expect(faults).toEqual([]);
  },
);

it(
  'a waiting delivery is cancelled after a question, and its story says by whom',
  { timeout: 300_000 },
  async () => {
    endpoint.answerWith({ statusCode: 503 });
    const { projectId, receive } = await makeShop({ retrySchedule: ['1s', '30m'] });
    const before = endpoint.requests.length;
    const webhook = await receive('C-1');
    await endpoint.waitForRequests(before + 2);
    const { context, faults } = await openContext();
    const page = await context.newPage();
    await signIn(page, await makeLink('operator', { projectId, subject: 'eva@example.com' }));
    await page.goto(`${url}/projects/${projectId}/webhooks/${webhook}`);
    await page.getByText('Attempt 2: answered 503').waitFor();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await dialogOf(page).getByText('not attempted again').waitFor();
    await page.getByRole('button', { name: 'Keep it as it is' }).click();
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('button', { name: 'Make no further attempt' }).click();
    await page.getByText('By session:eva@example.com').waitFor();
    await waitFor(
      'no button to cancel',
      async () => (await page.getByRole('button', { name: 'Cancel …' }).count()) === 0,
    );
    await expectAccessible(page);
    expect(faults).toEqual([]);
  },
);
