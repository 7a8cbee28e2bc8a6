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

/** A client's connection and, unless it leads nowhere, the proxy's own to the server. */
type Pair = readonly [client: Socket, target: Socket | undefined];

type Forwarding = { pairs: Set<Pair>; discards: boolean };

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const forwarding: Forwarding = { pairs: new Set(), discards: false };
  const { pairs } = forwarding;
  const server = createServer({ noDelay: true }, (client) => {
    if (forwarding.discards) leadNowhere(forwarding, client);
    else connect(forwarding, client, targetPort);
  });
  const { port, shut } = await listenOnLoopback(server);
  return {
    port,
    targetPorts: () => [...pairs].flatMap(([, target]) => target?.localPort ?? []),
    blackHole: () => {
      forwarding.discards = true;
    },
    freeze: () => {
      for (const pair of pairs) for (const socket of pair) socket?.pause();
    },
    release: () => {
      forwarding.discards = false;
      cutAll(pairs);
    },
    close: async () => {
      cutAll(pairs);
      await shut();
    },
  };
}

function leadNowhere({ pairs }: Forwarding, client: Socket): void {
  const pair: Pair = [client, undefined];
  pairs.add(pair);
  client.resume().once('close', () => pairs.delete(pair));
}

function connect(forwarding: Forwarding, client: Socket, targetPort: number): void {
  const discards = () => forwarding.discards;
  const target = createConnection({ host: '127.0.0.1', port: targetPort, noDelay: true });
  target.on('error', () => client.destroy());
  const pair: Pair = [client, target];
  forwarding.pairs.add(pair);
  forward(client, target, discards);
  forward(target, client, discards);
  client.once('close', () => {
    // The server does not learn of it before `release`.
    if (discards()) return;
    forwarding.pairs.delete(pair);
    target.destroy();
  });
  target.once('close', () => {
    if (!discards()) client.destroy();
  });
}

function cutAll(pairs: Set<Pair>): void {
  for (const [client, target] of pairs) {
    client.destroy();
    target?.destroy();
  }
  pairs.clear();
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
