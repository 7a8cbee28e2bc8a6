import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DemoEndpoint = {
  origin: string;
  /** Resolves when a request with this `webhook-id` to this path has been answered with 200. */
  received: (webhookId: string, path: string) => Promise<void>;
  close: () => Promise<void>;
};

/** How many attempts of each webhook the flaky path fails. */
const flakyFailures = 2;

/** The endpoint of the demo: prints and answers each request. Listens on `port` if that is free, else on another. */
export async function startDemoEndpoint(port: number, say: (line: string) => void): Promise<DemoEndpoint> {
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      const attempt = Number(request.headers['x-hqrelay-attempt']);
      const path = request.url ?? '/';
      const statusCode = path === '/demo/flaky' && attempt <= flakyFailures ? 503 : 200;
      response.writeHead(statusCode).end(statusCode === 200 ? 'thank you\n' : 'come back later\n');
      say(`${path}: webhook ${id}, attempt ${attempt}, ${bytes} bytes, answered ${statusCode}`);
      if (statusCode !== 200) return;
      seen.add(id + path);
      waiting.get(id + path)?.();
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
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (webhookId, path) =>
      new Promise((resolve) => {
        if (seen.has(webhookId + path)) resolve();
        else waiting.set(webhookId + path, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
