import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DemoEndpoint = {
  url: string;
  /** Resolves when a request with this `webhook-id` has been answered. */
  received: (webhookId: string) => Promise<void>;
  close: () => Promise<void>;
};

/** The customer's side of the demo: answers 200 and says what it got. Listens on `port` if that is free, else on another. */
export async function startDemoEndpoint(port: number, say: (line: string) => void): Promise<DemoEndpoint> {
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      response.end('thank you\n');
      const id = String(request.headers['webhook-id']);
      const attempt = String(request.headers['x-hqrelay-attempt']);
      say(`demo endpoint: webhook ${id}, attempt ${attempt}, ${bytes} bytes, answered 200`);
      seen.add(id);
      waiting.get(id)?.();
    });
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(port).catch(() => listen(0));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/demo`,
    received: (webhookId) =>
      new Promise((resolve) => {
        if (seen.has(webhookId)) resolve();
        else waiting.set(webhookId, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
