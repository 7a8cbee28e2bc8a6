import { createServer } from 'node:http';
import { startConnectProxy } from '@hqrelay/testing/network/connect-proxy';
import { listenOnLoopback } from '@hqrelay/testing/network/loopback-server';
import { afterAll, expect, it } from 'vitest';
import { createFetch } from './proxied-fetch.ts';

const bodies: string[] = [];
const server = await listenOnLoopback(
  createServer((request, response) => {
    request.setEncoding('utf8').on('data', (chunk: string) => bodies.push(chunk));
    request.on('end', () => response.writeHead(201, { 'x-answer': 'yes' }).end('answered'));
  }),
);
afterAll(server.shut);

it('a fetch with a proxy asks it for a tunnel to the name of the server, and sends the request through it', async () => {
  const proxy = await startConnectProxy(server.port);
  const fetch = createFetch(proxy.url.replace('//', '//user:pa%24s@'));
  const headers = new Headers({ 'content-type': 'text/plain' });
  const response = await fetch('http://model.invalid/v1', { method: 'POST', headers, body: 'question' });
  expect([response.status, response.headers.get('x-answer'), await response.text()]).toEqual([
    201,
    'yes',
    'answered',
  ]);
  expect(bodies).toEqual(['question']);
  const credentials = Buffer.from('user:pa$s').toString('base64');
  expect(proxy.asked).toEqual([`model.invalid:80 Basic ${credentials}`]);
  await proxy.shut();
  await expect(fetch('http://other.invalid/v1')).rejects.toThrow('fetch failed');
});

it('a fetch without a proxy is that of the process', () => {
  expect(createFetch(undefined)).toBe(fetch);
});
