import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitFor } from '@hqrelay/testing/wait-for';
import express, { type Express } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from './http-server.ts';

const servers: HttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))));

async function start(app: Express, options?: Parameters<typeof createHttpServer>[1]): Promise<number> {
  const server = createHttpServer(app, options);
  servers.push(server);
  return server.listen(0);
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

it('a client that sends a header now and then is answered 408 when the time for headers is over', async () => {
  const port = await start(express(), { headersTimeoutMs: 300 });
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  socket.on('data', (data) => (received += data)).on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
  const sending = setInterval(() => socket.write('X-Slow: 1\r\n'), 50);
  await once(socket, 'close');
  clearInterval(sending);
  expect(received).toMatch(/^HTTP\/1.1 408 /);
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toMatchObject({
    error: { code: 'request.timeout' },
  });
});

describe('a client that pipelines requests', () => {
  it('a client that pipelines 32 requests gets every answer', async () => {
    const port = await start(express().get('/', (_request, response) => void response.send('ok')));
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let received = '';
    socket.on('data', (data) => (received += data));
    socket.write(get.repeat(32));
    await waitFor('the answers', () => (received.match(/HTTP\/1.1 200 /g) ?? []).length === 32);
    socket.write(get);
    await waitFor('one more answer', () => (received.match(/HTTP\/1.1 200 /g) ?? []).length === 33);
    socket.destroy();
  });

  it('the request after 32 that are not answered is answered 429, and none after it is handled', async () => {
    let handled = 0;
    const app = express().get('/', (_request, response) => {
      handled += 1;
      setImmediate(() => response.send('ok'));
    });
    const socket = connect(await start(app), '127.0.0.1').setEncoding('latin1');
    let received = '';
    socket.on('data', (data) => (received += data)).on('error', () => {});
    socket.write(get.repeat(2_000));
    await once(socket, 'close');
    expect(handled).toBe(32);
    expect(received.match(/HTTP\/1.1 200 /g)).toHaveLength(32);
    expect(received).toMatch(/HTTP\/1.1 429 .*\r\nRetry-After: 1\r\n.*"connection.too_many_requests"/s);
  });
});

it('a client that reads none of its answers is disconnected', async () => {
  let closed = 0;
  // More than the kernel buffers.
  const body = Buffer.alloc(32 << 20);
  const app = express().get('/', (request, response) => {
    request.socket.once('close', () => (closed += 1));
    response.end(body);
  });
  const socket = connect(await start(app, { idleTimeoutMs: 300 }), '127.0.0.1').pause();
  socket.on('error', () => {}).write(get);
  await waitFor('the server to close the connection', () => closed === 1);
  socket.destroy();
});

it('a client that reads its answer slowly gets all of it', async () => {
  const body = Buffer.alloc(8 << 20, 0x61);
  const app = express().get('/', (_request, response) => void response.set('Connection', 'close').end(body));
  const socket = connect(await start(app, { idleTimeoutMs: 300 }), '127.0.0.1');
  socket.write(get);
  let bytes = 0;
  for await (const chunk of socket) {
    bytes += (chunk as Buffer).length;
    await nextTurn();
  }
  expect(bytes).toBeGreaterThan(body.length);
});
