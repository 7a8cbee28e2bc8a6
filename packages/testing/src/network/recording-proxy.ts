import { createConnection, createServer } from 'node:net';
import { listenOnLoopback } from './loopback-server.ts';

/** A proxy in front of a server on this machine that keeps what clients send. */
export async function startRecordingProxy(
  targetPort: number,
): Promise<{ port: number; text: () => string; shut: () => Promise<void> }> {
  const sent: Buffer[] = [];
  const server = createServer((client) => {
    const target = createConnection({ host: '127.0.0.1', port: targetPort });
    client.on('data', (bytes: Buffer) => sent.push(bytes)).pipe(target);
    target.pipe(client);
    target.on('error', () => client.destroy());
  });
  const { port, shut } = await listenOnLoopback(server);
  return { port, shut, text: () => Buffer.concat(sent).toString('utf8') };
}
