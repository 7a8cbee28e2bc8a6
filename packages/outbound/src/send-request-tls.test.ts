import { spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { EndpointTls } from '@hqrelay/domain/network/endpoint-tls';
import { judgeAttempt, type HttpExchange } from '@hqrelay/domain/delivery/attempt-outcome';
import { createCertificates, type Certificate } from '@hqrelay/testing/certificates';
import { afterAll, describe, expect, it } from 'vitest';
import {
  afterTest,
  cleanUpAfterEach,
  listen,
  request,
  startSender,
  toLoopback,
} from '../test/sender-world.ts';

const certificates = createCertificates();
afterAll(() => certificates.remove());
cleanUpAfterEach();

async function send(
  served: Certificate,
  trusted?: string,
  { times = 1, egressProxy }: { times?: number; egressProxy?: string } = {},
) {
  let connections = 0;
  const server = createServer({ key: served.key, cert: served.certificate }, (incoming, response) => {
    incoming.resume().on('end', () => response.end('ok'));
  });
  server.on('secureConnection', () => (connections += 1));
  const url = `https://hook.example:${await listen(server)}/`;
  const sender = startSender({ connectionsPerOrigin: 1, resolve: toLoopback, egressProxy });
  const exchanges = [];
  for (let i = 0; i < times; i++) {
    exchanges.push(await sender.send(request(url, { timeoutMs: 3_000, tls: { ca: trusted } })));
  }
  return { exchanges, connections };
}

describe('an https endpoint', () => {
  it('an endpoint with a trusted certificate for its name is delivered to, on one connection', async () => {
    const right = certificates.issue('hook.example');
    const { exchanges, connections } = await send(right, right.certificate, { times: 3 });
    expect(exchanges).toEqual(Array(3).fill(expect.objectContaining({ kind: 'response', statusCode: 200 })));
    expect(connections).toBe(1);
  });

  it('an https endpoint is delivered to through an egress proxy, which sees only the tunnel', async () => {
    const right = certificates.issue('hook.example');
    const asked: string[] = [];
    const proxy = createHttpServer();
    proxy.on('connect', (incoming, client: Socket) => {
      asked.push(incoming.url ?? '');
      const target = connect(Number(incoming.url?.split(':')[1]), '127.0.0.1');
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client
        .on('error', () => {})
        .pipe(target.on('error', () => {}))
        .pipe(client);
    });
    const egressProxy = `http://127.0.0.1:${await listen(proxy)}`;
    const { exchanges, connections } = await send(right, right.certificate, { times: 2, egressProxy });
    expect(exchanges).toEqual(Array(2).fill(expect.objectContaining({ kind: 'response', statusCode: 200 })));
    expect(connections).toBe(1);
    expect(asked).toEqual([expect.stringMatching(/^hook\.example:\d+$/)]);
    const { exchanges: refused } = await send(certificates.issue('other.example'), right.certificate, {
      egressProxy,
    });
    expect(refused).toMatchObject([{ kind: 'error', phase: 'tls' }]);
  });

  it('a self-signed certificate is a TLS error', async () => {
    const { exchanges } = await send(certificates.issue('hook.example'));
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }]);
  });

  it('an expired certificate is a TLS error', async () => {
    const expired = certificates.issue('hook.example', { notAfter: '20210101000000Z' });
    const { exchanges } = await send(expired, expired.certificate);
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'CERT_HAS_EXPIRED' }]);
  });

  it('a certificate for another name is a TLS error', async () => {
    const wrong = certificates.issue('other.example');
    const { exchanges } = await send(wrong, wrong.certificate);
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'ERR_TLS_CERT_ALTNAME_INVALID' }]);
  });

  it('an endpoint that does not speak TLS, or closes in the handshake, is a TLS error', async () => {
    const sender = startSender();
    for (const [answer, code] of [
      ['HTTP/1.1 400 Bad Request\r\n\r\n', 'ERR_SSL_WRONG_VERSION_NUMBER'],
      ['', 'ECONNRESET'],
    ] as const) {
      const server = createTcpServer((socket) =>
        socket.on('error', () => {}).once('data', () => socket.end(answer)),
      );
      const url = `https://127.0.0.1:${await listen(server)}/`;
      const exchange = await sender.send(request(url, { timeoutMs: 3_000 }));
      expect(exchange).toMatchObject({ kind: 'error', phase: 'tls', code: expect.stringContaining(code) });
    }
  });
});

describe('an endpoint with its own authorities, or that wants a client certificate', () => {
  const authority = certificates.issue('authority.example');
  const served = certificates.issue('hook.example', { issuer: authority });
  const [one, other] = ['one', 'other'].map((name) => certificates.issue(name, { issuer: authority }));

  /** An endpoint that records the client certificate of each request. */
  async function demanding() {
    const seen: string[] = [];
    const sockets = new Set<unknown>();
    const options = { key: served.key, cert: served.certificate, ca: authority.certificate };
    const server = createServer({ ...options, requestCert: true }, (incoming, response) => {
      sockets.add(incoming.socket);
      seen.push((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN?.toString() ?? 'none');
      incoming.resume().on('end', () => response.end('ok'));
    });
    return { ...demandingAt(await listen(server)), seen, sockets };
  }

  function demandingAt(port: number) {
    const sender = startSender({ connectionsPerOrigin: 1, resolve: toLoopback });
    const url = `https://hook.example:${port}/`;
    const post = (tls?: EndpointTls) => sender.send(request(url, { timeoutMs: 3_000, tls }));
    return { post };
  }

  const errorOf = (exchange: HttpExchange) => {
    const outcome = judgeAttempt(exchange, { now: 0, timeoutMs: 3_000 });
    return outcome.kind === 'delivered' ? 'none' : outcome.error;
  };

  it('an endpoint with its own authority is delivered to under that authority only', async () => {
    const { post, seen } = await demanding();
    const client = one;
    expect(await post({ ca: authority.certificate, client })).toMatchObject({ statusCode: 200 });
    const [absent, wrong] = [await post({ client }), await post({ ca: one!.certificate, client })];
    expect(absent).toMatchObject({ kind: 'error', phase: 'tls' });
    expect(wrong).toMatchObject({ kind: 'error', phase: 'tls' });
    expect(seen).toEqual(['one']);
  });

  it("one endpoint's requests never go out under another endpoint's certificate", async () => {
    const { post, seen, sockets } = await demanding();
    const tlsOf = [one, other].map((client) => ({ ca: authority.certificate, client }));
    for (let i = 0; i < 3; i++) {
      for (const tls of tlsOf) expect(await post(tls)).toMatchObject({ statusCode: 200 });
    }
    expect(seen).toEqual(['one', 'other', 'one', 'other', 'one', 'other']);
    expect(sockets.size).toBe(2);
  });

  it('requests with the same certificate share a connection', async () => {
    const { post, sockets } = await demanding();
    for (let i = 0; i < 2; i++) {
      expect(await post({ ca: authority.certificate, client: { ...one! } })).toMatchObject({
        statusCode: 200,
      });
    }
    expect(sockets.size).toBe(1);
  });

  it('an attempt without the required client certificate, or with an unknown one, has that as its error', async () => {
    const [host, files] = ['127.0.0.1:0', ['-cert', served.certificateFile, '-key', served.keyFile]];
    const verify = ['-CAfile', authority.certificateFile, '-Verify', '1', '-verify_return_error'];
    const server = spawn('openssl', ['s_server', '-accept', host, ...files, ...verify], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    afterTest(() => server.kill());
    let output = '';
    server.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output).toMatch(/ACCEPT .*:\d+/);
    const { post } = demandingAt(Number(/ACCEPT .*:(\d+)/.exec(output)?.[1]));
    const unknown = certificates.issue('unknown');
    expect(errorOf(await post({ ca: authority.certificate }))).toBe(
      'the endpoint asks for a TLS client certificate',
    );
    expect(errorOf(await post({ ca: authority.certificate, client: unknown }))).toBe(
      'the endpoint does not accept our TLS client certificate',
    );
  });

  it('a client certificate that cannot be used is a TLS error, and nothing is sent', async () => {
    const { post, seen } = await demanding();
    const client = { certificate: one!.certificate, key: other!.key };
    const exchange = await post({ ca: authority.certificate, client });
    expect(exchange).toMatchObject({ kind: 'error', phase: 'tls', code: 'UNUSABLE_CERTIFICATE' });
    expect(seen).toEqual([]);
  });
});
