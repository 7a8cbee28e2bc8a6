import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { url, check, admin } = await openConsoleWorld();

it('the OpenAPI document is valid OpenAPI 3.1 and is served without a key', async () => {
  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as Record<string, object>;
  const result = await new Validator().validate(structuredClone(document));
  expect(result).toMatchObject({ valid: true });
  expect(document['openapi']).toMatch(/^3\.1\./);
  const operations = Object.values(document['paths'] ?? {}).flatMap((path) => Object.values(path as object));
  const ids = operations.map(({ operationId }) => operationId as string);
  expect(new Set(ids).size).toBe(ids.length);
});

it('the check of answers fails for a field, a status or a type that the document does not describe', () => {
  const answer = { method: 'GET', path: '/api/v1/me', statusCode: 200, type: 'application/json', body: {} };
  expect(() => check(answer)).toThrow(/required property/);
  expect(() => check({ ...answer, statusCode: 418 })).toThrow('does not describe');
  expect(() => check({ ...answer, type: 'text/html' })).toThrow('does not describe');
  const error = { error: { code: 'a', message: 'b', more: true } };
  expect(() => check({ ...answer, statusCode: 404, body: error })).toThrow('does not describe');
  expect(() => check({ ...answer, statusCode: 401, body: error })).toThrow('additional properties');
});

it('the reader of the document consists of files of the console, under a policy that allows no other host', async () => {
  const page = await fetch(`${url}/api/docs/`);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  const html = await page.text();
  expect(html).not.toMatch(/<script>|<style|https?:\/\//);
  const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset]) => asset as string);
  expect(assets).toHaveLength(4);
  for (const asset of assets) {
    const response = await fetch(`${url}${asset}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await response.text()).length).toBeGreaterThan(50);
  }
  expect(await (await fetch(`${url}/api/docs/start.js`)).text()).toContain('validatorUrl: null');
});

it('an unknown path is answered 404, and a method that a path does not take 405, in the form of every error', async () => {
  const unknown = await fetch(`${url}/api/v1/nothing`, { headers: { authorization: `Bearer ${admin()}` } });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ error: { code: 'path.unknown' } });
  const put = await fetch(`${url}/api/v1/projects`, { method: 'PUT' });
  expect(put.status).toBe(405);
  expect(put.headers.get('allow')).toBe('GET, POST');
});
