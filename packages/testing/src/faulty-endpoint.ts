import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './certificates.ts';
import { listenOnLoopback } from './network/loopback-server.ts';

/** What an endpoint can do instead of answering. */
export const faults = {
  'refuses connections': () => {},
  'hangs before the headers': () => {},
  'hangs in the headers': (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nX-Half: '),
  'hangs in the body': (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
  'drips its headers': (socket: Socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-Drip: '),
  'drips its body': (socket: Socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n'),
  'resets before the headers': (socket: Socket) => socket.resetAndDestroy(),
  'closes before the headers': (socket: Socket) => socket.end(),
  'closes in the body': (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
  'answers garbage': (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'answers with headers without end': (socket: Socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\n', `X-Long: ${'x'.repeat(8_000)}\r\n`),
  'answers 200 and 100 MB': (socket: Socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n', 'x'.repeat(65_536)),
  'answers 200 and a body without end': (socket: Socket) =>
    pour(
      socket,
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      `8000\r\n${'x'.repeat(32_768)}\r\n`,
    ),
  'redirects to itself': (socket: Socket) =>
    socket.end('HTTP/1.1 302 Found\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n'),
} as const;

export type Fault = keyof typeof faults;

export type FaultyEndpoint = { url: string; requests: () => number; close: () => Promise<void> };

/** The customer's side at its worst: below HTTP, one fault for every request. With a certificate it speaks TLS. */
export async function startFaultyEndpoint(fault: Fault, certificate?: Certificate): Promise<FaultyEndpoint> {
  let requests = 0;
  const serve = (socket: Socket) => {
    // The relay may reset a connection with such an endpoint.
    socket.on('error', () => {});
    socket.once('data', () => {
      requests += 1;
      faults[fault](socket);
    });
  };
  const server = certificate
    ? createTlsServer({ cert: certificate.certificate, key: certificate.key }, serve)
    : createTcpServer(serve);
  const { port, shut } = await listenOnLoopback(server);
  if (fault === 'refuses connections') await shut();
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    requests: () => requests,
    close: shut,
  };
}

function drip(socket: Socket, start: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write('x'), 100);
  socket.once('close', () => clearInterval(timer));
}

function pour(socket: Socket, start: string, piece: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) {
      // As fast as it is taken.
    }
  };
  socket.on('drain', more).write(start);
  more();
}
