import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePolicy } from '@hqrelay/domain/network-policy';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSender } from './send-request.ts';

let folder = '';
const cleanups: (() => unknown)[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hqrelay-tls-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A self-signed certificate; made valid by trusting it. `ca` can set a validity in the past, `req` cannot. */
function certificate(name: string, notAfter = '20990101000000Z'): { key: string; cert: string } {
  const file = (suffix: string) => join(folder, `${name}-${notAfter}.${suffix}`);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  writeFileSync(join(folder, 'index'), '');
  writeFileSync(join(folder, 'serial'), '01');
  writeFileSync(
    join(folder, 'config'),
    '[ca]\ndefault_ca=a\n[a]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n' +
      `x509_extensions=e\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=DNS:${name}\n`,
  );
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', file('key'));
  openssl('req', '-new', '-key', file('key'), '-subj', `/CN=${name}`, '-out', file('csr'));
  const validity = ['-startdate', '20200101000000Z', '-enddate', notAfter];
  const files = ['-keyfile', file('key'), '-in', file('csr'), '-out', file('crt')];
  openssl('ca', '-batch', '-selfsign', '-notext', '-config', 'config', ...files, ...validity);
  return { key: readFileSync(file('key'), 'utf8'), cert: readFileSync(file('crt'), 'utf8') };
}

async function send(
  served: { key: string; cert: string },
  trusted?: string,
  { times = 1, egressProxy }: { times?: number; egressProxy?: string } = {},
) {
  let connections = 0;
  const server = createServer(served, (incoming, response) => {
    incoming.resume().on('end', () => response.end('ok'));
  }).listen(0, '127.0.0.1');
  server.on('secureConnection', () => (connections += 1));
  await once(server, 'listening');
  const sender = createSender({
    policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
    connectionsPerOrigin: 1,
    idleConnectionsMax: 1,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    egressProxy,
  });
  cleanups.push(
    () => server.close(),
    () => sender.close(),
  );
  const body = Buffer.from('{}');
  const url = `https://hook.example:${(server.address() as AddressInfo).port}/`;
  const exchanges = [];
  for (let i = 0; i < times; i++) {
    exchanges.push(await sender.send({ url, headers: [], body, timeoutMs: 3_000, tls: { ca: trusted } }));
  }
  return { exchanges, connections };
}

describe('an https endpoint', () => {
  it('with a certificate that is trusted and right is delivered to, on one connection', async () => {
    const right = certificate('hook.example');
    const { exchanges, connections } = await send(right, right.cert, { times: 3 });
    expect(exchanges).toEqual(Array(3).fill(expect.objectContaining({ kind: 'response', statusCode: 200 })));
    expect(connections).toBe(1);
  });

  it('is delivered to through an egress proxy, which sees only the tunnel', async () => {
    const right = certificate('hook.example');
    const asked: string[] = [];
    const proxy = createHttpServer().listen(0, '127.0.0.1');
    proxy.on('connect', (incoming, client: Socket) => {
      asked.push(incoming.url ?? '');
      const target = connect(Number(incoming.url?.split(':')[1]), '127.0.0.1');
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client
        .on('error', () => {})
        .pipe(target.on('error', () => {}))
        .pipe(client);
    });
    await once(proxy, 'listening');
    cleanups.push(() => proxy.close());
    const egressProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { exchanges, connections } = await send(right, right.cert, { times: 2, egressProxy });
    expect(exchanges).toEqual(Array(2).fill(expect.objectContaining({ kind: 'response', statusCode: 200 })));
    expect(connections).toBe(1);
    expect(asked).toEqual([expect.stringMatching(/^hook\.example:\d+$/)]);
    const { exchanges: refused } = await send(certificate('other.example'), right.cert, { egressProxy });
    expect(refused).toMatchObject([{ kind: 'error', phase: 'tls' }]);
  });

  it('with a self-signed certificate is a TLS error', async () => {
    const { exchanges } = await send(certificate('hook.example'));
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }]);
  });

  it('with an expired certificate is a TLS error', async () => {
    const expired = certificate('hook.example', '20210101000000Z');
    const { exchanges } = await send(expired, expired.cert);
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'CERT_HAS_EXPIRED' }]);
  });

  it('with a certificate for another name is a TLS error', async () => {
    const wrong = certificate('other.example');
    const { exchanges } = await send(wrong, wrong.cert);
    expect(exchanges).toMatchObject([{ kind: 'error', phase: 'tls', code: 'ERR_TLS_CERT_ALTNAME_INVALID' }]);
  });

  it('that speaks no TLS, or hangs up in the handshake, is a TLS error', async () => {
    const sender = createSender({
      policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
      connectionsPerOrigin: 1,
      idleConnectionsMax: 1,
    });
    for (const [answer, code] of [
      ['HTTP/1.1 400 Bad Request\r\n\r\n', 'ERR_SSL_WRONG_VERSION_NUMBER'],
      ['', 'ECONNRESET'],
    ] as const) {
      const server = createTcpServer((socket) =>
        socket.on('error', () => {}).once('data', () => socket.end(answer)),
      );
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      cleanups.push(() => server.close());
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const exchange = await sender.send({ url, headers: [], body: Buffer.from('{}'), timeoutMs: 3_000 });
      expect(exchange).toMatchObject({ kind: 'error', phase: 'tls', code: expect.stringContaining(code) });
    }
  });
});
