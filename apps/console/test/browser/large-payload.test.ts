import { readFile } from 'node:fs/promises';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { expect, it } from 'vitest';
import { openBrowserWorld } from './browser-world.ts';

const { url, sql, createProject, makeLink, openContext, signIn } = await openBrowserWorld();

it('the page of a webhook of 3 MB reads the first 256 KiB, and its download has every byte', async () => {
  const projectId = await createProject();
  const body = Buffer.from(JSON.stringify({ order: 4711, rows: 'x'.repeat(3_000_000) }));
  const id = await recordWebhook(sql, { projectId }, { payload: body, headers: [], query: '' });
  const { context, faults } = await openContext();
  const page = await context.newPage();
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await signIn(page, await makeLink('viewer', { projectId }));
  const read = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/payload'));
  await page.goto(`${url}/projects/${projectId}/webhooks/${id}`);
  expect(await (await read).headerValue('content-length')).toBe('262144');
  await page.getByText('This is the first 256.0 KiB of 2.9 MiB.').waitFor();
  expect(paths.filter((path) => path.endsWith('/payload'))).toHaveLength(1);

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  const path = await (await download).path();
  expect((await readFile(path)).equals(body)).toBe(true);
  expect(faults).toEqual([]);
});
