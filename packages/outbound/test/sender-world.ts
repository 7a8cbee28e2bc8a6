import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { afterEach } from 'vitest';
import { createSender, type OutboundRequest, type Sender, type SenderOptions } from '../src/send-request.ts';

const cleanups: (() => unknown)[] = [];

/** Runs after the test, the latest first. */
export function afterTest(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Registers the clean-up of the senders and servers that a test file starts. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
}

/** A sender that may post to loopback. */
export function startSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    policy: parsePolicy({ allowPrivate: true, allowCidrs: [] }),
    connectionsPerOrigin: 10,
    idleConnectionsMax: 10,
    ...options,
  });
  afterTest(() => sender.close());
  return sender;
}

export const toLoopback = async () => [{ address: '127.0.0.1', family: 4 }];

export function request(url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest {
  return { url, headers: [], body: Buffer.from('{}'), timeoutMs: 5_000, ...rest };
}

/** Listens on a free port of loopback, which it returns. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterTest(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** An endpoint without an HTTP server: the test gets each connection, which is counted. */
export async function startEndpoint(onConnection: (socket: Socket, number: number) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onConnection(socket, ++connections);
    // A socket that is not read does not see its end.
    if (!socket.isPaused()) socket.resume();
  });
  const port = await listen(server);
  afterTest(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${port}/hook`, port, sockets, connections: () => connections };
}

export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers every request on every connection with the same bytes. */
export function startAnswering(bytes: string | Buffer) {
  return startEndpoint((socket) => socket.on('data', () => socket.write(bytes)));
}
