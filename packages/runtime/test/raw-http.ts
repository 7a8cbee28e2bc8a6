import { once } from 'node:events';
import { connect } from 'node:net';
import type { Express } from 'express';
import { afterEach } from 'vitest';
import { createHttpServer, type HttpServer } from '../src/http/http-server.ts';

/** Servers that close after each test, and requests to them as bytes on a socket. */
export function rawHttp() {
  const servers: HttpServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))));

  async function start(app: Express): Promise<number> {
    const server = createHttpServer(app);
    servers.push(server);
    return server.listen(0);
  }

  /** Sends text at once and resolves with all that comes back until the server closes the connection. */
  async function exchange(port: number, text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let received = '';
    socket.on('data', (data) => (received += data)).on('error', () => {});
    socket.write(text);
    await once(socket, 'close');
    return received;
  }

  return { start, exchange };
}
