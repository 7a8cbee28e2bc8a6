import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld, phone } from './browser-world.ts';

const world = await openBrowserWorld();
const { url, sql, makeLink, openContext, signIn } = world;

it('a link that a scanner opened first signs a person in by a click, and is refused afterwards with a sentence', async () => {
  const link = await makeLink('admin');
  const scanner = await openContext();
  await (await scanner.context.newPage()).goto(link, { waitUntil: 'networkidle' });
  expect((await sql.query('select * from sessions')).rowCount).toBe(0);

  const { context, faults } = await openContext();
  const page = await context.newPage();
  await page.goto(link);
  await expectAccessible(page);
  await signIn(page, link);
  await page.getByRole('search').waitFor();
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'hqrelay_session', httpOnly: true, sameSite: 'Lax' });

  const second = await scanner.context.newPage();
  await second.goto(link);
  await second.getByRole('button', { name: 'Sign in' }).click();
  await second.getByText('this sign-in link has been used').waitFor();
  await expectAccessible(second);
  expect([...faults, ...scanner.faults]).toEqual([]);
});

it('without a session a page keeps its address, and shows it after the sign-in in another tab', async () => {
  const projectId = await world.createProject({ name: 'Deep' });
  const { context, faults } = await openContext({ viewport: phone });
  const page = await context.newPage();
  const address = `${url}/projects/${projectId}/webhooks?state=dead_lettered`;
  await page.goto(address);
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await expectAccessible(page);
  await signIn(await context.newPage(), await makeLink('viewer', { projectId }));
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('search').waitFor();
  expect(new URL(page.url()).pathname).toBe(new URL(address).pathname);
  expect(faults).toEqual([]);
});

it('a rule of the policy that a page breaks is reported by the browser, counted and logged', async () => {
  const stranger = 'https://stranger.example';
  const { context, faults } = await openContext({}, [url, stranger]);
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(
    `document.body.append(Object.assign(new Image(), { src: 'https://stranger.example/pixel.png' }))`,
  );
  await waitFor('the report', async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return metrics.includes('hqrelay_policy_violations_total{directive="img-src"} 1');
  });
  expect(world.log.join('\n')).toContain('https://stranger.example/pixel.png');
  expect(faults).toEqual(['policy: img-src blocked https://stranger.example/pixel.png ']);
});
