import { createConnection, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './loopback-server.ts';

/** A TCP proxy in front of a server that can stop forwarding without closing a connection. */
export type TcpProxy = {
  port: number;
  /** The local ports of its connections to the server. */
  targetPorts: () => number[];
  /** Discards every byte from now on, and accepts new connections that lead nowhere. */
  blackHole: () => void;
  /** Stops reading from both sides, as a frozen process does. */
  freeze: () => void;
  /** Forwards again. The connections that lost bytes are cut. */
  release: () => void;
  close: () => Promise<void>;
};

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket | undefined]>();
  let discards = false;
  const server = createServer({ noDelay: true }, (client) => {
    if (discards) {
      client.resume();
      const pair = [client, undefined] as const;
      pairs.add(pair);
      client.once('close', () => pairs.delete(pair));
      return;
    }
    const target = createConnection({ host: '127.0.0.1', port: targetPort, noDelay: true });
    target.on('error', () => client.destroy());
    const pair = [client, target] as const;
    pairs.add(pair);
    forward(client, target, () => discards);
    forward(target, client, () => discards);
    client.once('close', () => {
      // The server does not hear of it before `release`.
      if (discards) return;
      pairs.delete(pair);
      target.destroy();
    });
    target.once('close', () => {
      if (!discards) client.destroy();
    });
  });
  const { port, shut } = await listenOnLoopback(server);
  const cutAll = () => {
    for (const [client, target] of pairs) {
      client.destroy();
      target?.destroy();
    }
    pairs.clear();
  };
  return {
    port,
    targetPorts: () => [...pairs].flatMap(([, target]) => target?.localPort ?? []),
    blackHole: () => {
      discards = true;
    },
    freeze: () => {
      for (const pair of pairs) for (const socket of pair) socket?.pause();
    },
    release: () => {
      discards = false;
      cutAll();
    },
    close: async () => {
      cutAll();
      await shut();
    },
  };
}

function forward(from: Socket, to: Socket, discards: () => boolean): void {
  from.on('data', (chunk) => {
    if (discards()) return;
    if (!to.write(chunk)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  });
}
