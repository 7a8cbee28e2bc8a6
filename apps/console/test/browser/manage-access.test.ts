import { expect, it } from 'vitest';
import { dialogOf, expectAccessible, openBrowserWorld } from './browser-world.ts';

const { url, get, createProject, makeLink, makeSession, openContext, signIn } = await openBrowserWorld();

it('a secret is rotated with an overlap, shown once, and listed beside the old one', async () => {
  const projectId = await createProject();
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('admin'));
  await page.goto(`${url}/projects/${projectId}/settings`);
  await page.getByRole('button', { name: 'Rotate …' }).click();
  const dialog = dialogOf(page);
  await dialog.getByLabel('Overlap').selectOption({ label: '1 hour' });
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
  await dialog.getByText('New secret: shown this once only').waitFor();
  await expectAccessible(page);
  const secret = (await dialog.locator('code').first().textContent()) ?? '';
  expect(secret.length).toBeGreaterThan(20);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByText('Its overlap ends').waitFor();
  expect(await page.content()).not.toContain(secret);
  const { items } = (await get(`/api/v1/projects/${projectId}/secrets`)).body;
  expect(items.filter(({ status }: { status: string }) => status === 'active')).toHaveLength(2);
  expect(faults).toEqual([]);
});

it('an API key is made, shown once, works, and is refused after it is revoked', async () => {
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('admin', { subject: 'eva@example.com' }));
  await page.goto(`${url}/access`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  const dialog = dialogOf(page);
  await dialog.getByLabel('Name').fill('billing');
  await dialog.getByLabel('Role').selectOption('operator');
  await dialog.getByRole('button', { name: 'Create it' }).click();
  const key = (await dialog.getByText(/^hqr_/).textContent()) ?? '';
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  expect((await get('/api/v1/me', { key })).body).toMatchObject({ name: 'billing', role: 'operator' });
  const row = page.getByRole('listitem').filter({ hasText: 'billing' });
  await row.getByRole('button', { name: 'Revoke …' }).click();
  await page.getByRole('button', { name: 'Revoke it for good' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  expect(await get('/api/v1/me', { key })).toMatchObject({ statusCode: 401 });

  await page.goto(`${url}/admin-log`);
  await page.getByText('api_key.revoke').first().waitFor();
  const entry = page.getByRole('listitem').filter({ hasText: 'api_key.create' }).first();
  await entry.getByText('by session:eva@example.com').waitFor();
  await entry.getByText('What changed').click();
  await expectAccessible(page);
  expect(await page.content()).not.toContain(key);
  expect(faults).toEqual([]);
});

it('an admin ends the session of another person, whose requests are refused from then on', async () => {
  const session = await makeSession('viewer', { subject: 'otto@example.com' });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('admin'));
  await page.goto(`${url}/access`);
  const row = page.getByRole('listitem').filter({ hasText: 'otto@example.com' });
  await row.getByRole('button', { name: 'End …' }).click();
  await page.getByRole('button', { name: 'End it' }).click();
  await row.getByText('revoked', { exact: true }).waitFor();
  expect(await get('/api/v1/me', { session })).toMatchObject({ statusCode: 401 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect(faults).toEqual([]);
});
