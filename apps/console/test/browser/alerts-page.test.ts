import { expect, it } from 'vitest';
import { dialogOf, expectAccessible, openBrowserWorld, phone } from './browser-world.ts';

const { url, sql, get, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('on a phone, a rule is added, tested, snoozed and removed, and its message is in the history', async () => {
  const projectId = await createProject({ name: 'Told' });
  const { context, faults } = await openContext({ viewport: phone });
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/alerts`);
  await page.getByText('No rule yet').waitFor();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = dialogOf(page);
  await form.getByLabel('backlog grows').check();
  await form.getByLabel('By', { exact: true }).selectOption('webhook');
  await form.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/told');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Add it' }).click();
  await form.getByText('whsec_').waitFor();
  await form.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByText('http://127.0.0.1:9/told').waitFor();
  const [rule] = (await get(`/api/v1/projects/${projectId}/alerts`)).body.items;
  expect(rule.on).toContain('backlog_growing');

  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByRole('link', { name: 'a test' }).waitFor();
  await page.getByRole('button', { name: 'Snooze …' }).click();
  await page.getByRole('button', { name: 'Snooze it' }).click();
  await page.getByText('snoozed until').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'End the snooze' }).click();
  await page.getByRole('button', { name: 'Snooze …' }).waitFor();
  await page.getByRole('button', { name: 'Remove …' }).click();
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByText('No rule yet').waitFor();
  await page.getByRole('link', { name: 'a test' }).waitFor();
  expect(faults).toEqual([]);
});

it('a channel that is broken is a banner over every page of its project', async () => {
  const projectId = await createProject({ name: 'Broken' });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  await signIn(page, await makeLink('operator', { projectId }));
  await page.goto(`${url}/projects/${projectId}/alerts`);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const form = dialogOf(page);
  await form.getByLabel('By', { exact: true }).selectOption('webhook');
  await form.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/broken');
  await form.getByRole('button', { name: 'Add it' }).click();
  await form.getByRole('button', { name: 'I have copied it' }).click();
  await sql.query(
    "update alert_rules set failures = 5, failing_since = now(), last_error = 'connection refused' where project_id = $1",
    [projectId],
  );
  await page.goto(`${url}/projects/${projectId}/webhooks`);
  await page.getByText('Alerts to http://127.0.0.1:9/broken do not arrive.').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'See why' }).click();
  await page.getByText('connection refused').waitFor();
  await page.getByRole('button', { name: 'Address …' }).click();
  await dialogOf(page).getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/repaired');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Change it' }).click();
  await page.getByText('http://127.0.0.1:9/repaired').waitFor();
  await page.getByText('do not arrive').waitFor({ state: 'detached' });
  expect(await page.getByText('broken', { exact: true }).count()).toBe(0);
  expect(faults).toEqual([]);
});
