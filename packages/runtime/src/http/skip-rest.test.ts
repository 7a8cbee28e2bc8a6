import express from 'express';
import { describe, expect, it } from 'vitest';
import { rawHttp } from '../../test/raw-http.ts';
import { ignoreBody, skipRest } from './skip-rest.ts';

const { start, exchange } = rawHttp();

const post = (chunks: number) =>
  `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;

describe('a body that is skipped', () => {
  /** Counts the chunks of each body and skips the rest of a body after a hundred. */
  async function startCounting() {
    const counts: number[] = [];
    const app = express().post('/', (request, response) => {
      let count = 0;
      request.on('data', () => {
        count += 1;
        if (count === 100) skipRest(request);
      });
      request.read(0);
      request.once('end', () => {
        counts.push(count);
        response.set('Connection', 'close').send('ok');
      });
    });
    return { port: await start(app), counts };
  }

  it('no chunk of a body reaches the server after it skips the body, though all were read at once', async () => {
    const { port, counts } = await startCounting();
    expect(await exchange(port, post(5_000))).toMatch(/^HTTP\/1.1 200 /);
    expect(counts).toEqual([100]);
  });

  it('the bodies of later connections are complete after a body was skipped', async () => {
    const { port, counts } = await startCounting();
    for (const chunks of [5_000, 99, 5_000, 98, 97]) await exchange(port, post(chunks));
    expect(counts).toEqual([100, 99, 100, 98, 97]);
  });
});

it('no request after a skipped body reaches the server, though all were read at once', async () => {
  const paths: string[] = [];
  const app = express().all('/{*path}', (request, response) => {
    paths.push(request.path);
    skipRest(request);
    response.set('Connection', 'close').send('ok');
  });
  const text = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  expect(await exchange(await start(app), text('/one') + text('/two').repeat(100))).toMatch(/ok$/);
  expect(paths).toEqual(['/one']);
});

describe('a route that reads no body', () => {
  const startHealth = () =>
    start(express().get('/health', ignoreBody, (_request, response) => void response.send('ok')));

  it.each([
    'Content-Length: 4\r\n\r\nbody',
    `Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(9_000)}`,
  ])('a route that reads no body answers a request with one, and closes the connection', async (rest) => {
    const answer = await exchange(await startHealth(), `GET /health HTTP/1.1\r\nHost: a\r\n${rest}`);
    expect(answer).toMatch(/^HTTP\/1.1 200 .*\r\nConnection: close\r\n/s);
  });

  it('a route that reads no body keeps the connection of a request without one', async () => {
    const get = 'GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n';
    const answers = await exchange(await startHealth(), `${get}\r\n${get}Connection: close\r\n\r\n`);
    expect(answers.match(/HTTP\/1.1 200 /g)).toHaveLength(2);
  });
});
