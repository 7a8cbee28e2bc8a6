import { changeBreaker } from '@hqrelay/db/queries/endpoint-breakers';
import { expect, it } from 'vitest';
import { dialogOf, expectAccessible, openBrowserWorld } from './browser-world.ts';

const { url, sql, get, post, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('an endpoint is added with an ordering key and a fixed header, and its order is removed later', async () => {
  const projectId = await createProject({ name: 'Ordered' });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/endpoints`);
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  const form = dialogOf(page);
  await form.getByLabel('URL').fill('http://127.0.0.1:9/ordered');
  await form.getByLabel('Ordering key').fill('order_id');
  await form.getByLabel('After a dead letter').selectOption('hold');
  await form.getByText('Headers and certificates').click();
  await form.getByLabel('Fixed headers').fill('X-Team: pay');
  await form.getByRole('button', { name: 'Add it' }).click();
  await form.getByText('neither a JSON Pointer').waitFor();
  await expectAccessible(page);
  await form.getByLabel('Ordering key').fill('/order_id');
  await form.getByRole('button', { name: 'Add it' }).click();
  await form.getByText('whsec_').waitFor();
  await form.getByRole('button', { name: 'I have copied it' }).click();

  const [added] = (await get(`/api/v1/projects/${projectId}/endpoints`)).body.items;
  expect(added).toMatchObject({ orderingKey: '/order_id', onDeadLetter: 'hold', hasHeaders: true });
  await page.getByRole('link', { name: '/ordered' }).click();
  await page.getByRole('button', { name: 'Edit …' }).click();
  await form.getByLabel('Ordering key').fill('');
  await form.getByText('Headers and certificates').click();
  await form.getByLabel('Remove its fixed headers').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('none: webhooks are delivered side by side').waitFor();
  const saved = (await get(`/api/v1/projects/${projectId}/endpoints/${added.id}`)).body;
  expect(saved).toMatchObject({ orderingKey: null, hasHeaders: false });
  expect(faults).toEqual([]);
});

it('an open breaker is shown, and a pause is undone from its message', async () => {
  const projectId = await createProject({ name: 'Failing' });
  const { body } = await post(`/api/v1/projects/${projectId}/endpoints`, { url: 'http://127.0.0.1:9/down' });
  const endpointId = body.endpoint.id as string;
  const now = Date.now();
  await changeBreaker(sql, endpointId, () => ({
    state: 'open',
    failures: 24,
    failingSince: now - 60_000,
    openedAt: now - 50_000,
    probeAt: now + 600_000,
    intervalMs: 30_000,
    closedAt: null,
  }));
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/endpoints`);
  await page.getByText('breaker open').waitFor();
  await page.getByRole('link', { name: '/down' }).click();
  await page.getByText('24 attempts in a row failed').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  const saved = (await get(`/api/v1/projects/${projectId}/endpoints/${endpointId}`)).body;
  expect(saved.paused).toBe(false);
  expect(faults).toEqual([]);
});
