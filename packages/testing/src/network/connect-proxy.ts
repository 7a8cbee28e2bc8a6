import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback } from './loopback-server.ts';

/** An HTTP proxy whose every tunnel leads to one port of this machine, whatever name a client asks for. */
export async function startConnectProxy(targetPort: number) {
  /** The authority of each CONNECT, with its credentials where it had any. */
  const asked: string[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, client: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    const target = connect(targetPort, '127.0.0.1');
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    client.pipe(target).pipe(client);
  });
  const { port, shut } = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, asked, shut };
}
