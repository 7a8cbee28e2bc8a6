import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { startNameServer } from '@hqrelay/testing/network/name-server';
import { describe, expect, it } from 'vitest';
import {
  afterTest,
  cleanUpAfterEach,
  ok,
  request,
  startAnswering,
  startEndpoint,
  startSender,
  toLoopback,
} from '../test/sender-world.ts';
import { createResolveHost } from './names/resolve-host.ts';

cleanUpAfterEach();

describe('an address', () => {
  const policy = parsePolicy({ allowPrivate: false, allowCidrs: [] });

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/',
    'http://example.com/',
    'https://user:password@example.com/',
    'no url',
  ])('a forbidden URL is not connected to: %s', async (url) => {
    expect(await startSender({ policy }).send(request(url))).toMatchObject({
      kind: 'error',
      phase: 'policy',
    });
  });

  it('the addresses of a name are checked when the connection is made', async () => {
    const send = startSender({ policy, resolve: toLoopback });
    expect(await send.send(request('https://evil.example/'))).toMatchObject({
      kind: 'error',
      phase: 'policy',
      message: 'evil.example resolves to 127.0.0.1, which is a loopback address',
    });
  });

  it('the connection goes to the resolved address, and Host names the endpoint', async () => {
    let host = '';
    const { port } = await startEndpoint((socket) =>
      socket.on('data', (chunk) => {
        host = /^host: (.*)$/m.exec(chunk.toString())?.[1]?.trim() ?? '';
        socket.write(ok);
      }),
    );
    const send = startSender({ resolve: toLoopback });
    expect(await send.send(request(`http://hook.example:${port}/`))).toMatchObject({ statusCode: 200 });
    expect(host).toBe(`hook.example:${port}`);
  });

  it('the connection goes to the checked address even if the name changes in between', async () => {
    const { port, connections } = await startAnswering(ok);
    const answers = ['127.0.0.1', '169.254.169.254', '10.0.0.1'];
    let questions = 0;
    const send = startSender({
      policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
      resolve: async () => [{ address: answers[questions++]!, family: 4 }],
    });
    const url = `http://rebind.example:${port}/`;
    expect(await send.send(request(url))).toMatchObject({ statusCode: 200 });
    // The name is looked up once, so the socket cannot get another answer.
    expect(questions).toBe(1);
    expect(connections()).toBe(1);
  });

  it('a name that changed to a forbidden address is refused at the next connection', async () => {
    const { port, connections } = await startEndpoint((socket) => socket.once('data', () => socket.end(ok)));
    let clock = 0;
    const answers = ['127.0.0.1', '169.254.169.254'];
    const send = startSender({
      resolve: async () => [{ address: answers.shift()!, family: 4 }],
      now: () => clock,
    });
    const url = `http://rebind.example:${port}/`;
    expect(await send.send(request(url))).toMatchObject({ statusCode: 200 });
    clock = 5_001;
    await expect
      .poll(() => send.send(request(url)))
      .toMatchObject({ phase: 'policy', message: expect.stringContaining('169.254.169.254') });
    expect(connections()).toBe(1);
  });

  it('a port without a listener is an error in connecting', async () => {
    const { url, port } = await startEndpoint(() => {});
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const free = (closed.address() as AddressInfo).port;
    closed.close();
    await once(closed, 'close');
    expect(await startSender().send(request(url.replace(String(port), String(free))))).toMatchObject({
      kind: 'error',
      phase: 'connect',
      code: 'ECONNREFUSED',
    });
  });

  it('a name is found while the name servers of eight other names never answer', async () => {
    const nameServer = await startNameServer((name) => (name === 'live.example' ? ['127.0.0.1'] : 'silence'));
    afterTest(nameServer.close);
    const { port } = await startAnswering(ok);
    const send = startSender({ resolve: createResolveHost({ nameServers: [nameServer.address] }) });
    let ended = 0;
    const post = (host: string) => send.send(request(`http://${host}:${port}/`)).finally(() => (ended += 1));
    const dead = Array.from({ length: 8 }, (_, number) => post(`dead-${number}.example`));
    expect(await post('live.example')).toMatchObject({ statusCode: 200 });
    // The process's own reconnects resolve their hosts this way.
    expect((await lookup('localhost')).address).toBeDefined();
    expect(ended).toBe(1);
    expect(await Promise.all(dead)).toEqual(
      Array(8).fill(expect.objectContaining({ phase: 'dns', code: 'TIMEOUT' })),
    );
  });

  it('a name that does not exist is an error in the look-up', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const send = startSender({ resolve: () => Promise.reject(notFound) });
    expect(await send.send(request('http://nowhere.example/'))).toMatchObject({
      phase: 'dns',
      code: 'ENOTFOUND',
    });
  });
});
