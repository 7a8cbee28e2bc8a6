import { createServer } from 'node:http';
import { addAxe, findAccessibilityFaults } from '@hqrelay/testing/browser/accessibility';
import { openBrowser } from '@hqrelay/testing/browser/open-browser';
import { listenOnLoopback } from '@hqrelay/testing/network/loopback-server';
import { afterAll, expect, it } from 'vitest';

const browser = await openBrowser();
afterAll(() => browser.close());

async function servePage(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
    });
    response.end(html);
  });
  const { port, shut } = await listenOnLoopback(server);
  afterAll(shut);
  return `http://127.0.0.1:${port}/`;
}

it('axe examines a page whose policy allows no script, and names an element that breaks a rule', async () => {
  const context = await browser.newContext();
  context.setDefaultTimeout(180_000);
  await addAxe(context);
  const page = await context.newPage();
  await page.goto(await servePage('<!doctype html><title>x</title><button></button>'));
  const faults = await findAccessibilityFaults(page);
  expect(faults.join('\n')).toMatch(/button-name .* at button/);
  expect(faults.join('\n')).toContain('html-has-lang');
});
