import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  cleanUpAfterEach,
  ok,
  request,
  startAnswering,
  startEndpoint,
  startSender,
} from '../test/sender-world.ts';

cleanUpAfterEach();

describe('connections', () => {
  it('an origin has no more connections than its bound, and requests past it wait for one', async () => {
    let most = 0;
    const { url, sockets } = await startEndpoint((socket) => {
      most = Math.max(most, sockets.size);
      socket.on('data', () => setTimeout(() => socket.write(ok), 5));
    });
    const send = startSender({ connectionsPerOrigin: 3 });
    const exchanges = await Promise.all(Array.from({ length: 30 }, () => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(Array(30).fill('response'));
    expect(most).toBe(3);
  });

  it('the next request that waits gets a new connection when an exchange broke its own', async () => {
    const { url } = await startEndpoint((socket, number) =>
      socket.on('data', () => (number === 1 ? socket.destroy() : socket.write(ok))),
    );
    const send = startSender({ connectionsPerOrigin: 1 });
    const exchanges = await Promise.all([1, 2, 3].map(() => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(['error', 'response', 'response']);
  });

  it('a request that timed out while it waited does not use up a connection', async () => {
    let answer = () => {};
    const { url, sockets, connections } = await startEndpoint((socket) => {
      socket.once('data', () => {
        answer = () => socket.write(ok);
        socket.on('data', () => socket.write(ok));
      });
    });
    const send = startSender({ connectionsPerOrigin: 1 });
    const first = send.send(request(url));
    await expect.poll(() => sockets.size).toBe(1);
    expect(await send.send(request(url, { timeoutMs: 20 }))).toMatchObject({
      phase: 'socket',
      code: 'TIMEOUT',
    });
    answer();
    await first;
    expect(await send.send(request(url))).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(connections()).toBe(1);
  });

  it('past the bound of idle connections over all origins the longest idle one is closed', async () => {
    const endpoints = await Promise.all([1, 2, 3, 4].map(() => startAnswering(ok)));
    const send = startSender({ idleConnectionsMax: 2 });
    for (const { url } of endpoints) await send.send(request(url));
    await expect.poll(() => endpoints.map(({ sockets }) => sockets.size)).toEqual([0, 0, 1, 1]);
    await send.close();
    await expect.poll(() => endpoints.map(({ sockets }) => sockets.size)).toEqual([0, 0, 0, 0]);
  });

  it('a connection that the endpoint closes after each answer is opened again', async () => {
    const { url, connections } = await startAnswering(
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    );
    const send = startSender({ connectionsPerOrigin: 1 });
    const exchanges = await Promise.all([1, 2, 3].map(() => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(Array(3).fill('response'));
    expect(connections()).toBe(3);
  });

  it('a thousand exchanges that time out leave no connection open', async () => {
    const { url, sockets } = await startEndpoint(() => {});
    const send = startSender({ connectionsPerOrigin: 1_000 });
    const exchanges = await Promise.all(
      Array.from({ length: 1_000 }, () => send.send(request(url, { timeoutMs: 1_500 }))),
    );
    expect(new Set(exchanges.map((each) => each.kind === 'error' && each.code))).toEqual(
      new Set(['TIMEOUT']),
    );
    await expect.poll(() => sockets.size).toBe(0);
  });
});

describe('a stale keep-alive connection', () => {
  it.each([
    ['closed', (socket: Socket) => socket.destroy()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])(
    'an idle connection that is %s under the next request is replaced at once by a fresh one',
    async (_, end) => {
      const { url, connections } = await startEndpoint((socket, number) => {
        let requests = 0;
        socket.on('data', () => (number === 1 && ++requests === 2 ? end(socket) : socket.write(ok)));
      });
      const send = startSender();
      await send.send(request(url));
      expect(await send.send(request(url))).toMatchObject({ kind: 'response', statusCode: 200 });
      expect(connections()).toBe(2);
    },
  );

  it('a stale connection is replaced once per request', async () => {
    const { url, connections } = await startEndpoint((socket, number) => {
      let requests = 0;
      socket.on('data', () => (number === 1 && ++requests === 1 ? socket.write(ok) : socket.destroy()));
    });
    const send = startSender();
    await send.send(request(url));
    expect(await send.send(request(url))).toMatchObject({ kind: 'error', phase: 'headers' });
    expect(connections()).toBe(2);
  });

  it('a fresh connection that breaks is a failure without a second try', async () => {
    const { url, connections } = await startEndpoint((socket) =>
      socket.on('data', () => socket.resetAndDestroy()),
    );
    expect(await startSender().send(request(url))).toMatchObject({
      kind: 'error',
      phase: 'headers',
      code: 'ECONNRESET',
    });
    expect(connections()).toBe(1);
  });

  it('a used connection that breaks after the first byte of an answer is a failure without a second try', async () => {
    const { url, connections } = await startEndpoint((socket) => {
      let requests = 0;
      socket.on('data', () => (++requests === 1 ? socket.write(ok) : socket.end('HTTP/1.1 2')));
    });
    const send = startSender();
    await send.send(request(url));
    expect(await send.send(request(url))).toMatchObject({ kind: 'error', phase: 'headers' });
    expect(connections()).toBe(1);
  });
});
