import { createConnection, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Certificate } from '../certificates.ts';
import { listenOnLoopback } from './loopback-server.ts';

/** Ends TLS in front of a server on loopback, as a proxy does that changes no header. `targetPort` is read per connection. */
export async function startTlsFront(
  { certificate, key }: Pick<Certificate, 'certificate' | 'key'>,
  targetPort: () => number,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer({ cert: certificate, key }, (client: Socket) => {
    const target = createConnection(targetPort(), '127.0.0.1');
    client.on('error', () => target.destroy()).once('close', () => target.destroy());
    target.on('error', () => client.destroy()).once('close', () => client.destroy());
    client.pipe(target).pipe(client);
  });
  const { port, shut } = await listenOnLoopback(server);
  return { port, close: shut };
}
