import { expect, it } from 'vitest';
import { dialogOf, expectAccessible, openBrowserWorld } from './browser-world.ts';

const { get, makeLink, openContext, signIn } = await openBrowserWorld();

it('a project is created for a provider with the setting that it needs, and its settings say how to set the provider up', async () => {
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('admin', { returnUrl: 'https://backoffice.example.com/customers/7' }));
  await page.getByRole('link', { name: 'Back to backoffice.example.com' }).waitFor();
  await page.getByRole('button', { name: 'Create a project' }).click();
  const form = dialogOf(page);
  await form.getByLabel('Name', { exact: true }).fill('Shop of PayPal');
  await form.getByLabel('Provider', { exact: true }).selectOption('PayPal');
  await form.getByText('It is the public key of the certificate').waitFor();
  await expectAccessible(page);
  await form.getByLabel('Provider', { exact: true }).selectOption('Braintree');
  await form.getByLabel('Secret').fill('a private key of Braintree');
  await form.getByLabel('public-key').fill('pk_test');
  await form.getByRole('button', { name: 'Create it' }).click();
  await form.getByText('shown this once only').waitFor();
  await form.getByRole('link', { name: 'settings of the project' }).click();
  await page.getByRole('heading', { name: 'Set up Braintree' }).waitFor();
  await expectAccessible(page);
  const { items } = (await get('/api/v1/projects')).body;
  expect(items).toMatchObject([{ name: 'Shop of PayPal', provider: 'braintree' }]);
  expect(faults).toEqual([]);
});
