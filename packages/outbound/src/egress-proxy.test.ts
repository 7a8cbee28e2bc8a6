import http from 'node:http';
import type { Socket } from 'node:net';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { describe, expect, it } from 'vitest';
import { cleanUpAfterEach, listen, ok, request, startSender } from '../test/sender-world.ts';

cleanUpAfterEach();

describe('an egress proxy', () => {
  async function proxy(statusCode = 200) {
    const asked: string[] = [];
    const server = http.createServer();
    server.on('connect', (incoming, client: Socket) => {
      asked.push(`${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
      client.write(`HTTP/1.1 ${statusCode} X\r\n\r\n`);
      if (statusCode === 200) client.on('data', () => client.write(ok));
      client.on('error', () => {});
    });
    return { url: `http://user:pa%24s@127.0.0.1:${await listen(server)}`, asked };
  }

  it('an egress proxy carries requests through a tunnel, which is kept for the next ones', async () => {
    const { url, asked } = await proxy();
    const send = startSender({ egressProxy: url });
    for (let i = 0; i < 2; i++) {
      expect(await send.send(request('http://hook.example/'))).toMatchObject({ statusCode: 200 });
    }
    expect(asked).toEqual([`hook.example:80 Basic ${Buffer.from('user:pa$s').toString('base64')}`]);
  });

  it('an egress proxy that refuses is an error in connecting that names the proxy', async () => {
    const { url } = await proxy(403);
    expect(await startSender({ egressProxy: url }).send(request('https://hook.example/'))).toMatchObject({
      kind: 'error',
      phase: 'connect',
      message: 'the egress proxy answered 403 to CONNECT',
    });
  });

  it('an egress proxy that does not run is an error of the proxy, not of the endpoint', async () => {
    const server = http.createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const sender = startSender({ egressProxy: `http://127.0.0.1:${port}` });
    expect(await sender.send(request('https://hook.example/'))).toMatchObject({
      kind: 'error',
      phase: 'connect',
      code: 'PROXY_UNAVAILABLE',
    });
  });

  it('an egress proxy gets no request for a forbidden IP address', async () => {
    const { url, asked } = await proxy();
    const policy = parsePolicy({ allowPrivate: false, allowCidrs: [] });
    const send = startSender({ egressProxy: url, policy });
    expect(await send.send(request('https://169.254.169.254/'))).toMatchObject({ phase: 'policy' });
    expect(asked).toEqual([]);
  });
});
