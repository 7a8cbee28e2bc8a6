import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { afterTest, cleanUpAfterEach, request, startEndpoint, startSender } from '../test/sender-world.ts';
import type { Sender } from './send-request.ts';

cleanUpAfterEach();

describe('the deadline', () => {
  /** Long enough that a busy machine reaches the phase before. */
  const timeoutMs = 2_500;

  async function expectTimeout(phase: string, send: Sender, url: string): Promise<void> {
    const exchange = await send.send(request(url, { timeoutMs }));
    expect(exchange).toMatchObject({ kind: 'error', phase, code: 'TIMEOUT' });
    expect(exchange.latencyMs).toBeGreaterThanOrEqual(timeoutMs - 2);
    expect(exchange.latencyMs).toBeLessThan(timeoutMs + 20_000);
  }

  it('the deadline of a request covers the look-up of the name', async () => {
    const send = startSender({ resolve: () => new Promise(() => {}) });
    await expectTimeout('dns', send, 'http://hook.example/');
  });

  it('the deadline of a request covers the connection', async () => {
    // A stopped process accepts nothing, and once its queue is full the kernel drops further connections.
    const script =
      'require("net").createServer().listen({port:0,host:"127.0.0.1",backlog:1},function(){console.log(this.address().port)})';
    const stopped = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    afterTest(() => stopped.kill('SIGKILL'));
    const port = Number(await once(stopped.stdout, 'data'));
    stopped.kill('SIGSTOP');
    for (let i = 0; i < 4; i++) {
      const filler = connect(port, '127.0.0.1').on('error', () => {});
      afterTest(() => filler.destroy());
    }
    await expectTimeout('connect', startSender(), `http://127.0.0.1:${port}/`);
  });

  it('the deadline of a request covers the TLS handshake', async () => {
    const { url, sockets } = await startEndpoint(() => {});
    await expectTimeout('tls', startSender(), url.replace('http:', 'https:'));
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('the deadline of a request covers the wait for headers', async () => {
    const { url, sockets } = await startEndpoint(() => {});
    await expectTimeout('headers', startSender(), url);
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('the deadline of a request covers an endpoint that does not read the request', async () => {
    const { url } = await startEndpoint((socket) => socket.pause());
    const exchange = await startSender().send(request(url, { timeoutMs, body: Buffer.alloc(8_000_000) }));
    expect(exchange).toMatchObject({ kind: 'error', phase: 'headers', code: 'TIMEOUT' });
  });

  it('the deadline of a request covers headers and bodies that drip', async () => {
    const drip = (start: string) =>
      startEndpoint((socket) =>
        socket.once('data', () => {
          socket.write(start);
          const timer = setInterval(() => socket.write('x'), 20);
          socket.on('close', () => clearInterval(timer));
        }),
      );
    await expectTimeout('headers', startSender(), (await drip('HTTP/1.1 200 OK\r\nX-Drip: ')).url);
    await expectTimeout(
      'body',
      startSender(),
      (await drip('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n')).url,
    );
  });

  it('the deadline of a request covers the wait for a free connection', async () => {
    const { url, connections } = await startEndpoint(() => {});
    const send = startSender({ connectionsPerOrigin: 1 });
    const first = send.send(request(url, { timeoutMs: 3 * timeoutMs }));
    await expectTimeout('socket', send, url);
    expect(connections()).toBe(1);
    expect(await first).toMatchObject({ phase: 'headers', code: 'TIMEOUT' });
  });
});
