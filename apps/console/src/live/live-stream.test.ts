import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express, { type Response } from 'express';
import { expect, it } from 'vitest';
import { LiveStream } from './live-stream.ts';

it('a client that does not read is cut off, and holds less than a megabyte of memory until then', async () => {
  const app = express();
  const opened = new Promise<Response>((resolve) => app.get('/', (_request, response) => resolve(response)));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await opened;
  const stream = new LiveStream(response, { projectId: 'p', callerId: 'c', now: 0 });
  let unreadMax = 0;
  for (let id = 0; id < 10_000 && !response.destroyed; id += 1) {
    const fact = { id: String(id), error: 'x'.repeat(10_000) };
    stream.send([{ kind: 'attempt', at: new Date(1), fact: fact as never }], { polledAt: 0, wasCut: false });
    unreadMax = Math.max(unreadMax, response.writableLength);
    await nextTurn();
  }
  expect(response.destroyed).toBe(true);
  expect(unreadMax).toBeLessThan(1 << 20);
  socket.destroy();
  server.close();
});
