import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { withTimeout } from './with-timeout.ts';

it('work that ends before the deadline gives its result', async () => {
  await expect(withTimeout(Promise.resolve(7), 1_000, 'too late')).resolves.toBe(7);
});

it('work that fails before the deadline rejects with its own error', async () => {
  await expect(withTimeout(Promise.reject(new Error('refused')), 1_000, 'too late')).rejects.toThrow(
    'refused',
  );
});

it('work that outlasts the deadline rejects with the given message, and its later rejection is handled', async () => {
  let fail: (error: Error) => void = () => {};
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(withTimeout(work, 1, 'too late')).rejects.toThrow('too late');
  fail(new Error('refused'));
});

it('an answer that arrives in time counts, though this process is too busy to read it before the deadline', async () => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const echo = new Worker(
    `const { createServer } = require('node:net');
     const { parentPort, workerData: answered } = require('node:worker_threads');
     const server = createServer((socket) => {
       socket.on('data', (data) => socket.write(data, () => Atomics.add(answered, 0, 1)));
     });
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: answered },
  );
  try {
    const [port] = (await once(echo, 'message')) as [number];
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    for (let round = 0; round < 10; round += 1) {
      socket.write('ping');
      const answer = withTimeout(once(socket, 'data'), 20, 'too late');
      await new Promise(setImmediate);
      // Busy past the deadline, and until the answer is in this socket's buffer.
      const busyUntil = performance.now() + 60;
      const isAnswered = () => Atomics.load(answered, 0) > round || performance.now() > busyUntil + 60_000;
      while (performance.now() < busyUntil || !isAnswered());
      expect(String((await answer)[0])).toBe('ping');
    }
    socket.destroy();
  } finally {
    await echo.terminate();
  }
});
