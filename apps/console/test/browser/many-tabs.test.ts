import type { BrowserContext, Page, Request } from '@hqrelay/testing/browser/open-browser';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { expect, it } from 'vitest';
import { openBrowserWorld } from './browser-world.ts';

const { url, sql, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

/** The pages of a context that have a live stream open, once for each stream. */
function watchStreams(context: BrowserContext): () => Page[] {
  const open = new Set<Request>();
  context.on('request', (request) => {
    if (request.resourceType() === 'eventsource') open.add(request);
  });
  for (const end of ['requestfailed', 'requestfinished'] as const) {
    context.on(end as 'requestfailed', (request) => void open.delete(request));
  }
  return () => [...open].map((request) => request.frame().page()).filter((page) => !page.isClosed());
}

async function openTabs(context: BrowserContext, projectIds: readonly string[]) {
  const tabs = await Promise.all(projectIds.map(() => context.newPage()));
  await Promise.all(tabs.map((tab, at) => tab.goto(`${url}/projects/${projectIds[at]}/webhooks`)));
  await Promise.all(tabs.map((tab) => tab.getByText('order.first').waitFor()));
  return tabs;
}

it('ten tabs of ten projects all show their webhooks, though a browser has six connections to a host', async () => {
  const projectIds = await Promise.all(Array.from({ length: 10 }, () => createProject()));
  for (const projectId of projectIds) await recordWebhook(sql, { projectId, eventType: 'order.first' });
  const { context, faults } = await openContext();
  const streams = watchStreams(context);
  await signIn(await context.newPage(), await makeLink('viewer'));
  const tabs = await openTabs(context, projectIds);
  await waitFor('one stream', () => streams().length === 1);
  for (const projectId of projectIds) await recordWebhook(sql, { projectId, eventType: 'order.second' });
  await Promise.all(tabs.map((tab) => tab.getByRole('button', { name: '1 new webhook' }).click()));
  await Promise.all(tabs.map((tab) => tab.getByText('order.second').waitFor()));
  expect(faults).toEqual([]);
});

it('ten tabs of one project share one live stream, which another tab takes over when its tab is closed', async () => {
  const projectId = await createProject();
  await recordWebhook(sql, { projectId, eventType: 'order.first' });
  const { context, faults } = await openContext();
  const streams = watchStreams(context);
  await signIn(await context.newPage(), await makeLink('viewer', { projectId }));
  const tabs = await openTabs(context, Array<string>(10).fill(projectId));
  const [holder] = await waitFor('the stream', () => streams().length === 1 && streams());
  await holder?.close();
  const others = tabs.filter((tab) => tab !== holder);
  await waitFor('the stream of another tab', () => streams().length === 1);
  await recordWebhook(sql, { projectId, eventType: 'order.second' });
  await Promise.all(others.map((tab) => tab.getByRole('button', { name: '1 new webhook' }).waitFor()));
  expect(streams()).toHaveLength(1);
  expect(faults).toEqual([]);
});

it('a page whose session is revoked says so by itself', async () => {
  const projectId = await createProject();
  await recordWebhook(sql, { projectId, eventType: 'order.first' });
  const { context, faults } = await openContext();
  await signIn(await context.newPage(), await makeLink('viewer', { projectId }));
  const [tab] = await openTabs(context, [projectId]);
  await sql.query('update sessions set revoked_at = now()');
  await tab?.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  expect(faults).toEqual([]);
});
