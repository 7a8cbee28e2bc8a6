import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy in front of a server that can stop forwarding without closing anything. */
export type BlackHole = {
  port: number;
  /** From now on bytes go in and nothing comes out; new connections are taken and lead nowhere. */
  swallow: () => void;
  /** Forwards again. What was swallowed is gone, so connections from before are cut. */
  release: () => void;
  close: () => void;
};

export async function startBlackHole(targetPort: number): Promise<BlackHole> {
  const pairs = new Set<readonly [Socket, Socket | undefined]>();
  let swallowing = false;
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {});
    if (swallowing) {
      client.resume();
      const lost = [client, undefined] as const;
      pairs.add(lost);
      client.once('close', () => pairs.delete(lost));
      return;
    }
    const target = createConnection({ host: '127.0.0.1', port: targetPort, noDelay: true });
    target.on('error', () => client.destroy());
    const pair = [client, target] as const;
    pairs.add(pair);
    forward(client, target, () => swallowing);
    forward(target, client, () => swallowing);
    client.once('close', () => {
      pairs.delete(pair);
      if (!swallowing) target.destroy();
    });
    target.once('close', () => {
      if (!swallowing) client.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const cutAll = () => {
    for (const [client, target] of pairs) {
      client.destroy();
      target?.destroy();
    }
    pairs.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      swallowing = true;
    },
    release: () => {
      swallowing = false;
      cutAll();
    },
    close: () => {
      server.close();
      cutAll();
    },
  };
}

function forward(from: Socket, to: Socket, swallowing: () => boolean): void {
  from.on('data', (chunk) => {
    if (swallowing()) return;
    if (!to.write(chunk)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  });
}
