import { createServer } from 'node:http';
import { createCertificates } from '@hqrelay/testing/certificates';
import { listenOnLoopback } from '@hqrelay/testing/network/loopback-server';
import { startTlsFront } from '@hqrelay/testing/network/tls-front';
import type { Page } from '@hqrelay/testing/browser/open-browser';
import { afterAll, expect, it } from 'vitest';
import { expectAccessible, openBrowserWorld } from './browser-world.ts';

/** The pages of another site, each with the console in a frame. */
const embedding = createServer((request, response) => {
  const link = new URL(request.url ?? '/', 'https://x').searchParams.get('link') ?? 'about:blank';
  response.setHeader('content-type', 'text/html').end(
    `<!doctype html><html lang="en"><title>Back office</title><main><h1>Back office</h1>
     <iframe title="Webhooks" src="${link}" width="1000" height="700"></iframe></main></html>`,
  );
});
const pages = await listenOnLoopback(embedding);
const certificates = createCertificates();
let consolePort = 0;
const sites = { console: 'relay.example', allowed: 'backoffice.example', second: 'partner.example' };
const certificate = certificates.issue('*.example');
const [consoleFront, pagesFront] = await Promise.all([
  startTlsFront(certificate, () => consolePort),
  startTlsFront(certificate, () => pages.port),
]);
afterAll(async () => {
  await Promise.all([consoleFront.close(), pagesFront.close(), pages.shut()]);
  certificates.remove();
});
const consoleOrigin = `https://${sites.console}:${consoleFront.port}`;
const originOf = (site: string) => `https://${site}:${pagesFront.port}`;
const allowed = originOf(sites.allowed);
const second = originOf(sites.second);
const stranger = originOf('stranger.example');

const world = await openBrowserWorld(
  { CONSOLE_URL: consoleOrigin, CONSOLE_FRAME_ANCESTORS: `${allowed},${second}` },
  // As browsers do that refuse every cookie of another site which is not partitioned.
  ['--host-resolver-rules=MAP *.example 127.0.0.1', '--test-third-party-cookie-phaseout'],
);
consolePort = Number(new URL(world.url).port);

const openContext = () =>
  world.openContext({ ignoreHTTPSErrors: true }, [consoleOrigin, allowed, second, stranger]);
const makeLink = async (returnUrl: string | null = null) => {
  const link = await world.makeLink('operator', { returnUrl });
  return link.replace(world.url, consoleOrigin);
};

async function embed(page: Page, ancestor: string, link: string) {
  await page.goto(`${ancestor}/?link=${encodeURIComponent(link)}`);
  return page.frameLocator('iframe');
}

it('a page of another site over TLS signs its reader in inside a frame, with a cookie that is bound to that site', async () => {
  const projectId = await world.createProject({ name: 'Embedded' });
  const path = `/api/v1/projects/${projectId}/endpoints`;
  await world.post(path, { url: 'http://127.0.0.1:9/embedded' });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  const frame = await embed(page, allowed, await makeLink(`/projects/${projectId}/endpoints`));
  await frame.getByRole('button', { name: 'Sign in' }).click();
  await frame.getByRole('search').waitFor();
  const cookies = await context.cookies();
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatchObject({
    name: '__Host-hqrelay_session',
    secure: true,
    httpOnly: true,
    sameSite: 'None',
    partitionKey: `https://${sites.allowed}`,
  });

  await frame.getByRole('link', { name: 'http://127.0.0.1:9/embedded' }).click();
  await frame.getByRole('button', { name: 'Pause', exact: true }).click();
  await frame.getByRole('button', { name: 'Resume' }).waitFor();
  expect((await world.get(path)).body.items).toMatchObject([{ paused: true }]);
  await expectAccessible(page);

  const other = await embed(await context.newPage(), second, consoleOrigin);
  await other.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect(faults).toEqual([]);
});

it('the link back leaves the frame, and the reader of the HTTP API opens in a tab of its own', async () => {
  const { context, faults } = await openContext();
  const page = await context.newPage();
  const frame = await embed(page, allowed, await makeLink(`${allowed}/orders`));
  await frame.getByRole('button', { name: 'Sign in' }).click();
  const menu = frame.getByRole('button', { name: 'Menu' });
  await menu.click();
  const opened = context.waitForEvent('page');
  await frame.getByRole('menuitem', { name: 'HTTP API' }).click();
  await (await opened).getByText('HQRelay').first().waitFor();
  await frame.getByRole('link', { name: 'Back to' }).click();
  await page.waitForURL(`${allowed}/orders`);
  expect(faults).toEqual([]);
});

it('a page of a site that CONSOLE_FRAME_ANCESTORS does not name shows nothing of the console in its frame', async () => {
  const { context, faults } = await openContext();
  const page = await context.newPage();
  const frame = await embed(page, stranger, await makeLink());
  expect(page.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
  expect(await frame.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
  const { headers } = await fetch(world.url, { headers: { accept: 'text/html' } });
  expect(headers.get('content-security-policy')).toContain(`frame-ancestors ${allowed} ${second};`);
  expect(faults).toEqual([]);
});
