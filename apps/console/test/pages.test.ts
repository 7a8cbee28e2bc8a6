import { createHash } from 'node:crypto';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { listenOnLoopback } from '@hqrelay/testing/network/loopback-server';
import express from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { servePages } from '../src/pages/serve-pages.ts';
import { openConsoleWorld } from './console-world.ts';

const { url, sql, get, admin, createProject } = await openConsoleWorld();
const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const index = await (await fetch(url, asBrowser)).text();
const script = /<script type="module"[^>]* src="([^"]+)"/.exec(index)?.[1] ?? '';

/** The answer as it travels: fetch decompresses by itself, and asks no cache. */
function fetchRaw(path: string, headers: Record<string, string>) {
  return new Promise<{ statusCode: number | undefined; headers: IncomingHttpHeaders; bytes: Buffer }>(
    (resolve, reject) => {
      request(url + path, { headers }, (response) => {
        const { statusCode } = response;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    },
  );
}

describe('the pages', () => {
  it.each(['/', '/sign-in', '/projects/1/webhooks?state=dead_lettered', '/webhooks/no/such/page'])(
    'the path %s is answered with index.html, which a browser revalidates on each use',
    async (path) => {
      const response = await fetch(url + path, asBrowser);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(await response.text()).toBe(index);
      const encoding = { 'accept-encoding': 'br' };
      const { etag = '' } = (await fetchRaw(path, encoding)).headers;
      expect((await fetchRaw(path, { ...encoding, 'if-none-match': etag })).statusCode).toBe(304);
    },
  );

  it('the policy of the pages allows scripts, styles and requests of this origin alone, and no inline script', async () => {
    const { headers } = await fetch(url, asBrowser);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:|upgrade-insecure-requests/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toBeNull();
    expect(index).not.toMatch(/<script>|<style| on\w+=| style=/);
  });

  it('scripts have a hash in their name, are cached for a year, and are compressed as the browser accepts', async () => {
    const plain = await fetchRaw(script, { 'accept-encoding': 'identity' });
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    });
    const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    const brotli = await fetchRaw(script, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(sha(brotliDecompressSync(brotli.bytes))).toBe(sha(plain.bytes));
    const gzip = await fetchRaw(script, { 'accept-encoding': 'gzip' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(sha(gunzipSync(gzip.bytes))).toBe(sha(plain.bytes));
    expect(brotli.bytes.length).toBeLessThan(gzip.bytes.length);
  });

  it.each(['/assets/missing.js', '/api/v1/nothing', '/health/nothing'])(
    '%s is answered 404 in JSON and never with a page',
    async (path) => {
      const response = await fetch(url + path, asBrowser);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'path.unknown' } });
    },
  );

  it('the policy names CONSOLE_FRAME_ANCESTORS as the only frame ancestors; pages that are not built are answered with a sentence that says so', async () => {
    const app = express().use(servePages(new Map(), ['https://backoffice.example.com']));
    const { port, shut } = await listenOnLoopback(createServer(app));
    afterAll(shut);
    const missing = await fetch(`http://127.0.0.1:${port}/projects`, asBrowser);
    expect(missing.status).toBe(503);
    expect(await missing.text()).toContain('npm run build');
    const one = {
      bytes: Buffer.from('x'),
      version: '1',
      extension: '.html',
      isImmutable: false,
      compressed: () => undefined,
    };
    const built = express().use(
      servePages(new Map([['/index.html', one]]), ['https://backoffice.example.com']),
    );
    const server = await listenOnLoopback(createServer(built));
    afterAll(server.shut);
    const { headers } = await fetch(`http://127.0.0.1:${server.port}/`, asBrowser);
    expect(headers.get('content-security-policy')).toContain(
      'frame-ancestors https://backoffice.example.com;',
    );
  });
});

it('a payload is downloaded and never rendered, also when its link is opened', async () => {
  const payload = { payload: Buffer.from('<script>alert(1)</script>'), headers: [], query: '' };
  const id = await recordWebhook(sql, { projectId: await createProject() }, payload);
  const answer = await get(`/api/v1/webhooks/${id}/payload`, { key: admin() });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': expect.stringMatching(/^attachment; filename="/) as string,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
});
