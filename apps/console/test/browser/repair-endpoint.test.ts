import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { desktop, dialogOf, expectAccessible, phone } from './browser-world.ts';
import { createKeyboard, hasFocus } from './keyboard.ts';
import { openRelayWorld } from './relay-world.ts';

const { url, endpoint, makeShop, makeLink, openContext, signIn } = await openRelayWorld();

/** A webhook whose endpoint has a wrong URL and answered 500 once. */
async function makeFailedWebhook(order: string): Promise<string> {
  endpoint.answerWith(({ path }) => ({ statusCode: path === '/repaired' ? 200 : 500, body: 'out of order' }));
  const { projectId, receive } = await makeShop({ retrySchedule: ['30m'] });
  const before = endpoint.requests.length;
  await receive(order);
  await endpoint.waitForRequests(before + 1);
  return projectId;
}

it.each([
  ['desktop', desktop],
  ['phone', phone],
])(
  'on a %s, a person finds a failed webhook by a value in its payload, sees why, repairs the URL and has it delivered',
  { timeout: 300_000 },
  async (name, viewport) => {
    const order = `A-${name}-4711`;
    const projectId = await makeFailedWebhook(order);
    const { context, faults } = await openContext({ viewport });
    const page = await context.newPage();
    await signIn(page, await makeLink('operator', { projectId }));

    await waitFor('the webhook in a search', async () => {
      await page.goto(url);
      const search = page.getByRole('searchbox', { name: 'Search' });
      await search.fill(order);
      await search.press('Enter');
      await page.waitForURL('**/search?**');
      const found = page.getByRole('main').getByRole('link').first();
      await found.waitFor({ timeout: 10_000 });
      await found.click();
      return true;
    });
    await page.getByText('out of order').first().waitFor();
    await expectAccessible(page);
    const webhookPage = page.url();

    await page.goto(`${url}/projects/${projectId}/endpoints`);
    const shown = page.getByRole('main').getByRole('link', { name: endpoint.url }).first();
    await shown.waitFor();
    await expectAccessible(page);
    await shown.click();
    await page.getByRole('button', { name: 'Edit …' }).click();
    const field = dialogOf(page).getByLabel('URL');
    await field.fill(endpoint.url.replace('/hook', '/repaired'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '/repaired' }).waitFor();
    await expectAccessible(page);

    await page.goto(webhookPage);
    await page.getByRole('button', { name: 'Replay …' }).click();
    await expectAccessible(page);
    await dialogOf(page).locator('button[type=submit]').click();
    await waitFor('the delivery', () =>
      endpoint.requests.some(({ path, body }) => path === '/repaired' && body.toString().includes(order)),
    );
    await page.getByText('delivered').first().waitFor();
    await expectAccessible(page);
    expect(faults).toEqual([]);
  },
);

it(
  'by keyboard alone, a person opens the link, finds a failed webhook by a value in its payload, repairs its endpoint and retries it',
  { timeout: 300_000 },
  async () => {
    const order = 'K-4711';
    const projectId = await makeFailedWebhook(order);
    const { context, faults } = await openContext();
    const page = await context.newPage();
    const { tabTo, press, type, expectFocus } = createKeyboard(page);
    const button = (name: string) => page.getByRole('button', { name });
    await page.goto(await makeLink('operator', { projectId }));
    await tabTo(button('Sign in'));
    await press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await press('/');
    await expectFocus();
    await type(order);
    await press('Enter');
    await tabTo(page.getByRole('main').getByRole('link', { name: 'payment.paid' }));
    await press('Enter');
    await page.getByText('out of order').first().waitFor();
    await expectFocus();

    await tabTo(page.getByRole('main').getByRole('link', { name: endpoint.url }));
    await press('Enter');
    await page.getByRole('heading', { name: endpoint.url }).waitFor();
    await expectFocus();
    await tabTo(button('Edit …'));
    await press('Enter');
    await tabTo(dialogOf(page).getByLabel('URL'));
    await type(endpoint.url.replace('/hook', '/repaired'));
    await press('Enter');
    await page.getByRole('heading', { name: '/repaired' }).waitFor();
    await expectFocus();
    expect(await hasFocus(button('Edit …'))).toBe(true);

    await page.goBack();
    await tabTo(button('Retry now'));
    await press('Enter');
    await waitFor('the delivery', () =>
      endpoint.requests.some(({ path, body }) => path === '/repaired' && body.toString().includes(order)),
    );
    await page.getByText('delivered', { exact: true }).first().waitFor();
    // The button is removed with the wait that it ended.
    await button('Retry now').waitFor({ state: 'detached' });
    await expectFocus();
    expect(faults).toEqual([]);
  },
);
