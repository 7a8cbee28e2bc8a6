import { gzipSync } from 'node:zlib';
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

describe('a request', () => {
  it('a request carries the exact bytes, and the headers in their order, with duplicates and spelling', async () => {
    const body = Buffer.from([0, 255, 13, 10, 195, 40]);
    let received = Buffer.alloc(0);
    const { url, port } = await startEndpoint((socket) =>
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
    const { kind } = await startSender().send(request(`${url}?a=1&b=%20`, { headers, body }));
    expect(kind).toBe('response');
    expect(received.toString('latin1')).toBe(
      `POST /hook?a=1&b=%20 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n` +
        'X-Custom: a\r\ncontent-type: application/json\r\nx-custom: b\r\nX-Latin: caf\u00e9\r\nwebhook-id: 1\r\n' +
        `content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    );
  });

  it('a request may have an empty body', async () => {
    let received = '';
    const { url } = await startEndpoint((socket) =>
      socket.on('data', (chunk) => {
        received += chunk;
        socket.end(ok);
      }),
    );
    expect(await startSender().send(request(url, { body: new Uint8Array() }))).toMatchObject({
      statusCode: 200,
    });
    expect(received).toMatch(/^POST (.|\r\n)*content-length: 0\r\n\r\n$/);
  });

  it('a header that HTTP cannot carry makes the exchange an error, not an exception', async () => {
    const { url } = await startAnswering(ok);
    const exchange = await startSender().send(request(url, { headers: [['x-name', 'line\r\nbreak']] }));
    expect(exchange).toMatchObject({ kind: 'error', message: 'invalid x-name header' });
  });

  it('requests one after another use one connection', async () => {
    const { url, connections } = await startAnswering(ok);
    const send = startSender();
    for (let i = 0; i < 5; i++) expect(await send.send(request(url))).toMatchObject({ statusCode: 200 });
    expect(connections()).toBe(1);
  });
});

describe('a response', () => {
  it.each([200, 204, 302, 400, 410, 429, 503])(
    'a response with status %i is returned with its Retry-After, and no redirect is followed',
    async (statusCode) => {
      const { url, connections } = await startAnswering(
        `HTTP/1.1 ${statusCode} X\r\nLocation: http://127.0.0.1:1/\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n`,
      );
      const exchange = await startSender().send(request(url));
      expect(exchange).toMatchObject({ kind: 'response', statusCode, retryAfter: '7' });
      expect(connections()).toBe(1);
    },
  );

  it('of two Retry-After headers the first counts', async () => {
    const { url } = await startAnswering(
      'HTTP/1.1 503 X\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n',
    );
    expect(await startSender().send(request(url))).toMatchObject({ retryAfter: '7' });
  });

  it('a response is read after informational ones', async () => {
    const { url } = await startAnswering(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok}`);
    const exchange = await startSender().send(request(url));
    expect(exchange).toMatchObject({ kind: 'response', statusCode: 200, bodyHead: Buffer.from('ok') });
  });

  it('4 KiB of a body are kept without decoding, and the connection carries the next request after 26 KiB more', async () => {
    const body = gzipSync(Buffer.from(Array.from({ length: 30_000 }, () => Math.random() * 256)), {
      level: 0,
    });
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { url, connections } = await startAnswering(Buffer.concat([Buffer.from(head), body]));
    const send = startSender();
    for (let i = 0; i < 2; i++) {
      expect(await send.send(request(url))).toMatchObject({ bodyHead: body.subarray(0, 4_096) });
    }
    expect(connections()).toBe(1);
  });

  it.each([
    ['of 100 MB', 'Content-Length: 104857600\r\n\r\n', Buffer.alloc(65_536, 'x')],
    ['without end', 'Transfer-Encoding: chunked\r\n\r\n', Buffer.from(`8000\r\n${'x'.repeat(32_768)}\r\n`)],
  ])('a body %s is not read to its end, and the status counts', async (_, headers, piece) => {
    let written = 0;
    const { url, sockets } = await startEndpoint((socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${headers}`);
        const pour = () => {
          while (!socket.destroyed && socket.write(piece)) written += piece.length;
        };
        socket.on('drain', pour);
        pour();
      }),
    );
    const exchange = await startSender().send(request(url));
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
  ] as const)('a response that %s is an error', async (_, bytes, phase, code) => {
    const { url } = await startAnswering(bytes);
    const exchange = await startSender().send(request(url));
    expect(exchange).toMatchObject({ kind: 'error', phase, code: expect.stringMatching(code) });
  });

  it('a response that breaks off in its body is an error that names the status', async () => {
    const { url } = await startEndpoint((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart')),
    );
    expect(await startSender().send(request(url))).toMatchObject({
      kind: 'error',
      phase: 'body',
      message: expect.stringContaining('HTTP 200'),
    });
  });
});

describe('a sender', () => {
  it('aborting a sender ends the request in flight and all that follow', async () => {
    const { url, sockets } = await startEndpoint(() => {});
    const send = startSender();
    const sending = send.send(request(url));
    await expect.poll(() => sockets.size).toBe(1);
    send.abort();
    expect(await sending).toMatchObject({ kind: 'error', phase: 'headers', code: 'ABORTED' });
    await expect.poll(() => sockets.size).toBe(0);
    expect(await send.send(request(url))).toMatchObject({ code: 'ABORTED' });
  });

  it('aborting a sender ends the requests that wait for a connection, without connecting for them', async () => {
    const { url, connections } = await startEndpoint(() => {});
    const send = startSender({ connectionsPerOrigin: 1 });
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

  it('closing a sender lets the request in flight finish', async () => {
    let answer = () => {};
    const { url, sockets } = await startEndpoint((socket) => {
      answer = () => socket.write(ok);
    });
    const send = startSender();
    const sending = send.send(request(url));
    await expect.poll(() => sockets.size).toBe(1);
    const closed = send.close();
    answer();
    expect(await sending).toMatchObject({ statusCode: 200 });
    await closed;
    await expect.poll(() => sockets.size).toBe(0);
  });
});
