import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { expect, it } from 'vitest';
import { rawHttp } from '../../test/raw-http.ts';

const { start, exchange } = rawHttp();

const echo = () =>
  express().all('/', (request, response) => {
    request.resume().once('end', () => response.set('Connection', 'close').send('ok'));
  });

const headers = (count: number) => 'a:\r\n'.repeat(count);

it.each([
  ['without a Host header', 'GET / HTTP/1.1\r\nX-Correlation-Id: order-1\r\n\r\n', 400, 'request.malformed'],
  ['with the method CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method.not_allowed'],
  ['with 501 headers', `GET / HTTP/1.1\r\nHost: a\r\n${headers(500)}\r\n`, 431, 'request.headers_too_large'],
  [
    'with 4,000 headers',
    `GET / HTTP/1.1\r\nHost: a\r\n${headers(4_000)}\r\n`,
    431,
    'request.headers_too_large',
  ],
  [
    'with 17 KiB of headers',
    `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(17_408)}\r\n\r\n`,
    431,
    'request.headers_too_large',
  ],
  [
    'with 17 KiB of trailers',
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: ${'a'.repeat(17_408)}\r\n\r\n`,
    431,
    'request.headers_too_large',
  ],
  [
    'whose chunk has no size',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n',
    400,
    'request.malformed',
  ],
])(
  'a request %s is answered in the error form, and its connection closes',
  async (_which, text, status, code) => {
    const answer = await exchange(await start(echo()), text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nX-Correlation-Id: (order-1|[0-9a-f-]{36})\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
      error: { code, message: expect.any(String) },
    });
  },
);

it.each([
  ['an HTTP/1.0 request without a Host header', 'GET / HTTP/1.0\r\n\r\n'],
  ['a request with 500 headers', `GET / HTTP/1.1\r\nHost: a\r\n${headers(499)}\r\n`],
  ['a request with an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n'],
])('%s reaches the app', async (_which, text) => {
  expect(await exchange(await start(echo()), text)).toMatch(/^HTTP\/1.1 200 .*ok$/s);
});

it('an answer that was given before the body turns out malformed reaches the client', async () => {
  const app = express().post('/', (_request, response) => {
    response.writeHead(404, { 'Content-Length': 2 });
    response.write('no');
  });
  const text = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n';
  expect(await exchange(await start(app), text)).toMatch(/^HTTP\/1.1 404 .*\r\n\r\nno$/s);
});

it('a client that continues to send after a malformed request gets the answer, and its connection closes', async () => {
  const port = await start(echo());
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  socket.on('data', (data) => (received += data)).on('error', () => {});
  socket.write('garbage\r\n\r\n');
  const sending = setInterval(() => socket.write('x'.repeat(65_536)), 5);
  await once(socket, 'close');
  clearInterval(sending);
  expect(received).toMatch(/^HTTP\/1.1 400 .*"request.malformed"/s);
});

it('a connection closes after a malformed request, though its client keeps its side open', async () => {
  const socket = connect({ port: await start(echo()), host: '127.0.0.1', allowHalfOpen: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {}).resume();
  socket.write('garbage\r\n\r\n');
  await once(socket, 'end');
  // The server resets a connection that its client does not close: a write then fails.
  const writing = setInterval(() => socket.write('x'), 50);
  await closed;
  clearInterval(writing);
});
