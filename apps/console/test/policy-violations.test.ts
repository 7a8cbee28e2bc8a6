import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { url, log } = await openConsoleWorld();

const report = {
  'document-uri': `${url}/search?q=4111`,
  'effective-directive': 'img-src',
  'blocked-uri': 'https://evil.example/pixel.png',
};

/** Posts as a browser does, which sends no header of the pages. */
async function post(body: unknown, type = 'application/csp-report'): Promise<number> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}/api/policy-violations`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: text,
  });
  return response.status;
}

async function counted(directive: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = new RegExp(
    `^hqrelay_policy_violations_total\\{directive="${directive}"\\} (\\d+)$`,
    'm',
  ).exec(text);
  return Number(value?.[1] ?? 0);
}

const logged = () => log.filter((line) => line.includes('policy.violated'));

it('the report of a browser is counted by its directive and logged without the query of the page', async () => {
  expect(await post({ 'csp-report': report })).toBe(204);
  expect(await counted('img-src')).toBe(1);
  expect(logged()).toHaveLength(1);
  expect(JSON.parse(logged()[0] as string)).toMatchObject({
    level: 'warn',
    directive: 'img-src',
    page: '/search',
    blocked: 'https://evil.example/pixel.png',
  });
  expect(logged()[0]).not.toContain('4111');
});

it.each([
  ['that is no report', {}, 'application/csp-report', 400],
  ['that is no JSON', '{', 'application/csp-report', 400],
  ['of another content type', { 'csp-report': report }, 'text/plain', 400],
  [
    'that is larger than 8 KiB',
    { 'csp-report': { 'blocked-uri': 'x'.repeat(8 << 10) } },
    'application/csp-report',
    413,
  ],
])('a body %s is refused, and neither counted nor logged', async (_what, body, type, statusCode) => {
  const before = logged().length;
  expect(await post(body, type)).toBe(statusCode);
  expect(logged()).toHaveLength(before);
  expect(await counted('other')).toBe(0);
});

it('many reports of one address are answered 429 after a burst, and the log has fewer lines than were counted', async () => {
  // At once: the limit refills with time.
  const statuses = await Promise.all(Array.from({ length: 100 }, () => post({ 'csp-report': report })));
  expect(new Set(statuses)).toEqual(new Set([204, 429]));
  const taken = statuses.filter((status) => status === 204).length;
  expect(await counted('img-src')).toBe(1 + taken);
  expect(logged().length).toBeLessThan(1 + taken);
});
