import { spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { startNameServer } from '@hqrelay/testing/network/name-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createResolveHost } from './names/resolve-host.ts';
import { createSender, type OutboundRequest, type Sender, type SenderOptions } from './send-request.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function sender(options: Partial<SenderOptions> = {}): Sender {
  const created = createSender({
    policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
    connectionsPerOrigin: 10,
    idleConnectionsMax: 10,
    ...options,
  });
  cleanups.push(() => created.close());
  return created;
}

function request(url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest {
  return { url, headers: [], body: Buffer.from('{}'), timeoutMs: 2_000, ...rest };
}

/** A TCP server that does what it is told with each connection, and counts them. */
async function endpoint(onConnection: (socket: Socket, number: number) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onConnection(socket, ++connections);
    // A socket that nobody reads would not notice its end.
    if (!socket.isPaused()) socket.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, sockets, connections: () => connections };
}

/** Answers every request on every connection with the same bytes. */
function answering(bytes: string | Buffer) {
  return endpoint((socket) => socket.on('data', () => socket.write(bytes)));
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('a request', () => {
  it('carries the exact bytes, and the headers in their order with duplicates and spelling', async () => {
    const body = Buffer.from([0, 255, 13, 10, 195, 40]);
    let received = Buffer.alloc(0);
    const { url, port } = await endpoint((socket) =>
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.subarray(-body.length).equals(body)) socket.end(ok);
      }),
    );
    const headers = [
      ['X-Custom', 'a'],
      ['content-type', 'application/json'],
      ['x-custom', 'b'],
      ['X-Latin', 'caf\u00e9'],
      ['webhook-id', '1'],
    ] as const;
    const { kind } = await sender().send(request(`${url}?a=1&b=%20`, { headers, body }));
    expect(kind).toBe('response');
    expect(received.toString('latin1')).toBe(
      `POST /hook?a=1&b=%20 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n` +
        'X-Custom: a\r\ncontent-type: application/json\r\nx-custom: b\r\nX-Latin: caf\u00e9\r\nwebhook-id: 1\r\n' +
        `content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    );
  });

  it('may have an empty body', async () => {
    let received = '';
    const { url } = await endpoint((socket) =>
      socket.on('data', (chunk) => {
        received += chunk;
        socket.end(ok);
      }),
    );
    expect(await sender().send(request(url, { body: new Uint8Array() }))).toMatchObject({ statusCode: 200 });
    expect(received).toMatch(/^POST (.|\r\n)*content-length: 0\r\n\r\n$/);
  });

  it('that cannot be put into HTTP is an error, not an exception', async () => {
    const { url } = await answering(ok);
    const exchange = await sender().send(request(url, { headers: [['x-name', 'line\r\nbreak']] }));
    expect(exchange).toMatchObject({ kind: 'error', message: 'invalid x-name header' });
  });

  it('goes out on the connection of the one before', async () => {
    const { url, connections } = await answering(ok);
    const send = sender();
    for (let i = 0; i < 5; i++) expect(await send.send(request(url))).toMatchObject({ statusCode: 200 });
    expect(connections()).toBe(1);
  });
});

describe('a response', () => {
  it.each([200, 204, 302, 400, 410, 429, 503])(
    'with status %i is handed over as it is',
    async (statusCode) => {
      const { url, connections } = await answering(
        `HTTP/1.1 ${statusCode} X\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n`,
      );
      const exchange = await sender().send(request(url));
      expect(exchange).toMatchObject({ kind: 'response', statusCode, retryAfter: '7' });
      expect(connections()).toBe(1);
    },
  );

  it('with two Retry-After headers has the first', async () => {
    const { url } = await answering(
      'HTTP/1.1 503 X\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n',
    );
    expect(await sender().send(request(url))).toMatchObject({ retryAfter: '7' });
  });

  it('may come after informational ones', async () => {
    const { url } = await answering(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok}`);
    const exchange = await sender().send(request(url));
    expect(exchange).toMatchObject({ kind: 'response', statusCode: 200, bodyHead: Buffer.from('ok') });
  });

  it('is kept to 4 KiB as it came, and the connection goes on after a little more', async () => {
    const body = gzipSync(Buffer.from(Array.from({ length: 30_000 }, () => Math.random() * 256)), {
      level: 0,
    });
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { url, connections } = await answering(Buffer.concat([Buffer.from(head), body]));
    const send = sender();
    for (let i = 0; i < 2; i++) {
      expect(await send.send(request(url))).toMatchObject({ bodyHead: body.subarray(0, 4_096) });
    }
    expect(connections()).toBe(1);
  });

  it.each([
    ['of 100 MB', 'Content-Length: 104857600\r\n\r\n', Buffer.alloc(65_536, 'x')],
    ['without end', 'Transfer-Encoding: chunked\r\n\r\n', Buffer.from(`8000\r\n${'x'.repeat(32_768)}\r\n`)],
  ])('with a body %s stands by its status, and the rest is not read', async (_, headers, piece) => {
    let written = 0;
    const { url, sockets } = await endpoint((socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${headers}`);
        const pour = () => {
          while (!socket.destroyed && socket.write(piece)) written += piece.length;
        };
        socket.on('drain', pour);
        pour();
      }),
    );
    const exchange = await sender().send(request(url));
    expect(exchange).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(exchange.kind === 'response' && exchange.bodyHead.length).toBe(4_096);
    await expect.poll(() => sockets.size).toBe(0);
    expect(written).toBeLessThan(20_000_000);
  });

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'headers', /^HPE_/],
    [
      'has endless headers',
      `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(40_000)}\r\n`,
      'headers',
      /UND_ERR_HEADERS_OVERFLOW/,
    ],
    [
      'switches protocols',
      'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'headers',
      /UND_ERR_SOCKET/,
    ],
    ['has a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'body', /^HPE_/],
  ] as const)('that %s is an error', async (_, bytes, phase, code) => {
    const { url } = await answering(bytes);
    const exchange = await sender().send(request(url));
    expect(exchange).toMatchObject({ kind: 'error', phase, code: expect.stringMatching(code) });
  });

  it('that breaks off in its body is an error that tells the status', async () => {
    const { url } = await endpoint((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart')),
    );
    expect(await sender().send(request(url))).toMatchObject({
      kind: 'error',
      phase: 'body',
      message: expect.stringContaining('HTTP 200'),
    });
  });
});

describe('the deadline', () => {
  const timeoutMs = 150;

  async function expectTimeout(phase: string, send: Sender, url: string): Promise<void> {
    const exchange = await send.send(request(url, { timeoutMs }));
    expect(exchange).toMatchObject({ kind: 'error', phase, code: 'TIMEOUT' });
    expect(exchange.latencyMs).toBeGreaterThanOrEqual(timeoutMs - 2);
    expect(exchange.latencyMs).toBeLessThan(timeoutMs + 500);
  }

  it('covers the name server', async () => {
    const send = sender({ resolve: () => new Promise(() => {}) });
    await expectTimeout('dns', send, 'http://hook.example/');
  });

  it('covers the connection', async () => {
    // A stopped process accepts nothing, and once its queue is full the kernel drops what else knocks.
    const script =
      'require("net").createServer().listen({port:0,host:"127.0.0.1",backlog:1},function(){console.log(this.address().port)})';
    const stopped = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanups.push(() => stopped.kill('SIGKILL'));
    const port = Number(await once(stopped.stdout, 'data'));
    stopped.kill('SIGSTOP');
    for (let i = 0; i < 4; i++) {
      const filler = connect(port, '127.0.0.1').on('error', () => {});
      cleanups.push(() => filler.destroy());
    }
    await expectTimeout('connect', sender(), `http://127.0.0.1:${port}/`);
  });

  it('covers the TLS handshake', async () => {
    const { url, sockets } = await endpoint(() => {});
    await expectTimeout('tls', sender(), url.replace('http:', 'https:'));
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('covers the wait for headers', async () => {
    const { url, sockets } = await endpoint(() => {});
    await expectTimeout('headers', sender(), url);
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('covers an endpoint that does not even read', async () => {
    const { url } = await endpoint((socket) => socket.pause());
    const exchange = await sender().send(request(url, { timeoutMs, body: Buffer.alloc(8_000_000) }));
    expect(exchange).toMatchObject({ kind: 'error', phase: 'headers', code: 'TIMEOUT' });
  });

  it('covers headers and bodies that drip', async () => {
    const drip = (start: string) =>
      endpoint((socket) =>
        socket.once('data', () => {
          socket.write(start);
          const timer = setInterval(() => socket.write('x'), 20);
          socket.on('close', () => clearInterval(timer));
        }),
      );
    await expectTimeout('headers', sender(), (await drip('HTTP/1.1 200 OK\r\nX-Drip: ')).url);
    await expectTimeout(
      'body',
      sender(),
      (await drip('HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n')).url,
    );
  });

  it('covers the wait for a free connection', async () => {
    const { url, connections } = await endpoint(() => {});
    const send = sender({ connectionsPerOrigin: 1 });
    const first = send.send(request(url, { timeoutMs: 400 }));
    await expectTimeout('socket', send, url);
    expect(connections()).toBe(1);
    expect(await first).toMatchObject({ phase: 'headers', code: 'TIMEOUT' });
  });
});

describe('connections', () => {
  it('are no more than the bound per origin, and those who wait get theirs', async () => {
    let most = 0;
    const { url, sockets } = await endpoint((socket) => {
      most = Math.max(most, sockets.size);
      socket.on('data', () => setTimeout(() => socket.write(ok), 5));
    });
    const send = sender({ connectionsPerOrigin: 3 });
    const exchanges = await Promise.all(Array.from({ length: 30 }, () => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(Array(30).fill('response'));
    expect(most).toBe(3);
  });

  it('are given to the next in line when an exchange has broken its own', async () => {
    const { url } = await endpoint((socket, number) =>
      socket.on('data', () => (number === 1 ? socket.destroy() : socket.write(ok))),
    );
    const send = sender({ connectionsPerOrigin: 1 });
    const exchanges = await Promise.all([1, 2, 3].map(() => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(['error', 'response', 'response']);
  });

  it('are not kept for those who have given up waiting', async () => {
    let answer = () => {};
    const { url, sockets, connections } = await endpoint((socket) => {
      socket.once('data', () => {
        answer = () => socket.write(ok);
        socket.on('data', () => socket.write(ok));
      });
    });
    const send = sender({ connectionsPerOrigin: 1 });
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

  it('that are idle are no more than the bound over all origins', async () => {
    const endpoints = await Promise.all([1, 2, 3, 4].map(() => answering(ok)));
    const send = sender({ idleConnectionsMax: 2 });
    for (const { url } of endpoints) await send.send(request(url));
    await expect.poll(() => endpoints.map(({ sockets }) => sockets.size)).toEqual([0, 0, 1, 1]);
    await send.close();
    await expect.poll(() => endpoints.map(({ sockets }) => sockets.size)).toEqual([0, 0, 0, 0]);
  });

  it('that the endpoint closes after each answer are opened anew', async () => {
    const { url, connections } = await answering(
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    );
    const send = sender({ connectionsPerOrigin: 1 });
    const exchanges = await Promise.all([1, 2, 3].map(() => send.send(request(url))));
    expect(exchanges.map((each) => each.kind)).toEqual(Array(3).fill('response'));
    expect(connections()).toBe(3);
  });

  it('are all released by a thousand exchanges that time out', async () => {
    const { url, sockets } = await endpoint(() => {});
    const send = sender({ connectionsPerOrigin: 1_000 });
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
  ])('that is %s under the next request is replaced at once, by a fresh one', async (_, end) => {
    const { url, connections } = await endpoint((socket, number) => {
      let requests = 0;
      socket.on('data', () => (number === 1 && ++requests === 2 ? end(socket) : socket.write(ok)));
    });
    const send = sender();
    await send.send(request(url));
    expect(await send.send(request(url))).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(connections()).toBe(2);
  });

  it('is replaced only once', async () => {
    const { url, connections } = await endpoint((socket, number) => {
      let requests = 0;
      socket.on('data', () => (number === 1 && ++requests === 1 ? socket.write(ok) : socket.destroy()));
    });
    const send = sender();
    await send.send(request(url));
    expect(await send.send(request(url))).toMatchObject({ kind: 'error', phase: 'headers' });
    expect(connections()).toBe(2);
  });

  it('is not what a fresh connection is that breaks: no second try', async () => {
    const { url, connections } = await endpoint((socket) =>
      socket.on('data', () => socket.resetAndDestroy()),
    );
    expect(await sender().send(request(url))).toMatchObject({
      kind: 'error',
      phase: 'headers',
      code: 'ECONNRESET',
    });
    expect(connections()).toBe(1);
  });

  it('is not what breaks after the first byte of an answer: no second try', async () => {
    const { url, connections } = await endpoint((socket) => {
      let requests = 0;
      socket.on('data', () => (++requests === 1 ? socket.write(ok) : socket.end('HTTP/1.1 2')));
    });
    const send = sender();
    await send.send(request(url));
    expect(await send.send(request(url))).toMatchObject({ kind: 'error', phase: 'headers' });
    expect(connections()).toBe(1);
  });
});

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
  ])('that is forbidden is not connected to: %s', async (url) => {
    expect(await sender({ policy }).send(request(url))).toMatchObject({ kind: 'error', phase: 'policy' });
  });

  it('that a name resolves to is judged when the connection is made', async () => {
    const send = sender({ policy, resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await send.send(request('https://evil.example/'))).toMatchObject({
      kind: 'error',
      phase: 'policy',
      message: 'evil.example resolves to 127.0.0.1, which is a loopback address',
    });
  });

  it('that resolves is the one connected to, by the name that was asked for', async () => {
    let host = '';
    const { port } = await endpoint((socket) =>
      socket.on('data', (chunk) => {
        host = /^host: (.*)$/m.exec(chunk.toString())?.[1]?.trim() ?? '';
        socket.write(ok);
      }),
    );
    const send = sender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await send.send(request(`http://hook.example:${port}/`))).toMatchObject({ statusCode: 200 });
    expect(host).toBe(`hook.example:${port}`);
  });

  it('is the judged one, also of a name that changes between the check and the connection', async () => {
    const { port, connections } = await answering(ok);
    const answers = ['127.0.0.1', '169.254.169.254', '10.0.0.1'];
    let questions = 0;
    const send = sender({
      policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
      resolve: async () => [{ address: answers[questions++]!, family: 4 }],
    });
    const url = `http://rebind.example:${port}/`;
    expect(await send.send(request(url))).toMatchObject({ statusCode: 200 });
    // Asked once: the socket had no second chance to get another answer.
    expect(questions).toBe(1);
    expect(connections()).toBe(1);
  });

  it('of a name that has changed is refused at the next connection', async () => {
    const { port, connections } = await endpoint((socket) => socket.once('data', () => socket.end(ok)));
    let clock = 0;
    const answers = ['127.0.0.1', '169.254.169.254'];
    const send = sender({
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

  it('where nobody listens is an error in connecting', async () => {
    const { url, port } = await endpoint(() => {});
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const free = (closed.address() as AddressInfo).port;
    closed.close();
    await once(closed, 'close');
    expect(await sender().send(request(url.replace(String(port), String(free))))).toMatchObject({
      kind: 'error',
      phase: 'connect',
      code: 'ECONNREFUSED',
    });
  });

  it('of a name is found while eight other names have a name server that never answers', async () => {
    const nameServer = await startNameServer((name) => (name === 'live.example' ? ['127.0.0.1'] : 'silence'));
    cleanups.push(nameServer.close);
    const { port } = await answering(ok);
    const send = sender({ resolve: createResolveHost({ nameServers: [nameServer.address] }) });
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

  it('whose name does not exist is an error of the name server', async () => {
    const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const send = sender({ resolve: () => Promise.reject(notFound) });
    expect(await send.send(request('http://nowhere.example/'))).toMatchObject({
      phase: 'dns',
      code: 'ENOTFOUND',
    });
  });
});

describe('an egress proxy', () => {
  async function proxy(statusCode = 200) {
    const asked: string[] = [];
    const server = http.createServer().listen(0, '127.0.0.1');
    server.on('connect', (incoming, client: Socket) => {
      asked.push(`${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
      client.write(`HTTP/1.1 ${statusCode} X\r\n\r\n`);
      if (statusCode === 200) client.on('data', () => client.write(ok));
      client.on('error', () => {});
    });
    await once(server, 'listening');
    cleanups.push(() => server.close());
    return { url: `http://user:pa%24s@127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  it('carries requests through a tunnel, which is kept for the next ones', async () => {
    const { url, asked } = await proxy();
    const send = sender({ egressProxy: url });
    for (let i = 0; i < 2; i++) {
      expect(await send.send(request('http://hook.example/'))).toMatchObject({ statusCode: 200 });
    }
    expect(asked).toEqual([`hook.example:80 Basic ${Buffer.from('user:pa$s').toString('base64')}`]);
  });

  it('that refuses is an error in connecting that names it', async () => {
    const { url } = await proxy(403);
    expect(await sender({ egressProxy: url }).send(request('https://hook.example/'))).toMatchObject({
      kind: 'error',
      phase: 'connect',
      message: 'the egress proxy answered 403 to CONNECT',
    });
  });

  it('gets no request for an IP address that is forbidden', async () => {
    const { url, asked } = await proxy();
    const policy = parsePolicy({ allowPrivate: false, allowCidrs: [] });
    const send = sender({ egressProxy: url, policy });
    expect(await send.send(request('https://169.254.169.254/'))).toMatchObject({ phase: 'policy' });
    expect(asked).toEqual([]);
  });
});

describe('a sender', () => {
  it('gives a request up when told to', async () => {
    const { url, sockets } = await endpoint(() => {});
    const send = sender();
    const sending = send.send(request(url));
    await expect.poll(() => sockets.size).toBe(1);
    send.abort();
    expect(await sending).toMatchObject({ kind: 'error', phase: 'headers', code: 'ABORTED' });
    await expect.poll(() => sockets.size).toBe(0);
    expect(await send.send(request(url))).toMatchObject({ code: 'ABORTED' });
  });

  it('gives up those too that wait for a connection, and connects for nobody any more', async () => {
    const { url, connections } = await endpoint(() => {});
    const send = sender({ connectionsPerOrigin: 1 });
    const sending = Array.from({ length: 50 }, () => send.send(request(url)));
    await expect.poll(connections).toBe(1);
    send.abort();
    const exchanges = await Promise.all(sending);
    expect(new Set(exchanges.map((each) => each.kind === 'error' && each.code))).toEqual(
      new Set(['ABORTED']),
    );
    await send.close();
    expect(connections()).toBe(1);
  });

  it('that is closed lets what is under way finish', async () => {
    let answer = () => {};
    const { url, sockets } = await endpoint((socket) => {
      answer = () => socket.write(ok);
    });
    const send = sender();
    const sending = send.send(request(url));
    await expect.poll(() => sockets.size).toBe(1);
    const closed = send.close();
    answer();
    expect(await sending).toMatchObject({ statusCode: 200 });
    await closed;
    await expect.poll(() => sockets.size).toBe(0);
  });
});
