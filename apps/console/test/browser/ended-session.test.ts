import { expect, it } from 'vitest';
import { dialogOf, expectAccessible, openBrowserWorld } from './browser-world.ts';

const { url, sql, post, get, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('a session that ends in the middle of a form keeps what was typed, and the form is sent after a new sign-in', async () => {
  const projectId = await createProject({ name: 'Form' });
  const { body } = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/old' });
  const endpointPath = `/projects/${projectId}/endpoints/${body.endpoint.id as string}`;
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('admin'));
  await page.goto(url + endpointPath);
  await page.getByRole('button', { name: 'Edit …' }).click();
  const field = dialogOf(page).getByLabel('URL');
  await field.fill('http://127.0.0.1:9/typed');
  await sql.query('update sessions set revoked_at = now()');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your session has ended').first().waitFor();
  await expectAccessible(page);

  await signIn(await context.newPage(), await makeLink('admin'));
  // The question may close by itself, when the page sees the new session.
  const again = page.getByRole('button', { name: 'I have signed in again' });
  await again.click({ timeout: 5_000 }).catch(() => {});
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: '/typed' }).waitFor();
  const saved = await get(`/api/v1${endpointPath}`);
  expect(saved.body.url).toBe('http://127.0.0.1:9/typed');
  expect(faults).toEqual([]);
});
