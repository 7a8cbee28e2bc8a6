import type { Server, Socket } from 'node:net';
import { freePorts } from '@hqrelay/services/free-port';

export type LoopbackServer = {
  port: number;
  /** Stops listening and cuts every connection. */
  shut: () => Promise<void>;
  /** Listens on the same port again. */
  open: () => Promise<void>;
};

/** Makes a server listen on a free port of 127.0.0.1, which no other process takes while the server is shut. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A test may reset its connection.
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  const [port = 0] = await freePorts(1);
  const open = async () => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  };
  await open();
  return {
    port,
    open,
    shut: async () => {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
