import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { repositoryRoot } from '@hqrelay/services/app-process';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openConsoleDoor, type Door } from './door-world.ts';

describe('the console behind nginx', () => {
  let world: World;
  let relayConsole: AppProcess;
  let door: Door;

  beforeAll(async () => {
    world = await createWorld(inject('run'));
    relayConsole = await startApp('console', { env: { ...world.env, TRUST_PROXY: '127.0.0.1' } });
    await relayConsole.waitUntilReady();
    door = await openConsoleDoor(inject('run').folder, relayConsole.port);
  });

  afterAll(async () => {
    await door.close();
    await relayConsole.end('SIGTERM');
    await world.close();
  });

  const get = (path: string, from?: string, headers = {}) =>
    door.send({ method: 'GET', path, headers, ...(from !== undefined && { from }) });

  it('nginx relays the API of the console, and neither its metrics nor its readiness', async () => {
    const document = await get('/api/openapi.json');
    expect(document.statusCode).toBe(200);
    expect(JSON.parse(document.text)).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./) });
    for (const path of ['/metrics', '/health', '/health/ready']) {
      expect((await get(path)).statusCode).toBe(404);
      const direct = await fetch(`${relayConsole.url}${path}`);
      expect(direct.status).toBe(200);
      await direct.arrayBuffer();
    }
  });

  it('requests with a wrong key are limited by the address of their connection, not by the one that they claim', async () => {
    const authorization = `Bearer hqr_${'x'.repeat(43)}`;
    // At once: the limit refills with time.
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, sent) =>
        get('/api/v1/me', '127.0.0.6', { authorization, 'x-forwarded-for': `203.0.113.${sent}` }),
      ),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([401, 429]));
    expect((await get('/api/v1/me', '127.0.0.7', { authorization })).statusCode).toBe(401);
  });

  it('a body that is larger than the console takes is refused with 413', async () => {
    const body = Buffer.alloc(300_000, 'x');
    const answer = await door.send({ path: '/api/v1/projects', body });
    expect(answer.statusCode).toBe(413);
  });
});

describe('a stream of events behind nginx', () => {
  let server: Server;
  let door: Door;

  beforeAll(async () => {
    // In the place of a console: it sends one event and keeps the answer open.
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    door = await openConsoleDoor(inject('run').folder, (server.address() as AddressInfo).port);
  });

  afterAll(async () => {
    await door.close();
    server.closeAllConnections();
    server.close();
  });

  it('an event reaches the browser while the answer is still open', async () => {
    const socket = await door.connect();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const first = new Promise<void>((resolve) => {
      socket.on('data', () => text.includes('data: first') && resolve());
    });
    socket.write(
      'GET /api/v1/projects/0190f0f0-0000-7000-8000-000000000001/live HTTP/1.1\r\nHost: console\r\n\r\n',
    );
    await first;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('the console has the same configuration in docker-compose.yml as elsewhere, but for its port and certificate', () => {
  const lines = (folder: string) =>
    readFileSync(`${repositoryRoot}/deploy/nginx/${folder}/console.conf`, 'utf8')
      .split('\n')
      .filter((line) => !/^#|\b(listen|server_name|ssl_certificate|ssl_certificate_key)\b/.test(line))
      .map((line) => line.replace(/http:\/\/[\w.]+:3002/, 'http://<console>:3002'));
  expect(lines('compose')).toEqual(lines('site'));
});
