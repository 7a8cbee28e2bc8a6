import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SlowEndpoint = Awaited<ReturnType<typeof startSlowEndpoint>>;

/** Keeps every request waiting until it is told to answer. Bodies are counted and thrown away. */
export async function startSlowEndpoint() {
  const waiting: ServerResponse[] = [];
  const seen = { requests: 0, bytes: 0, webhookIds: new Map<string, number>() };
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (seen.bytes += chunk.length));
    request.on('end', () => {
      seen.requests += 1;
      const id = String(request.headers['webhook-id']);
      seen.webhookIds.set(id, (seen.webhookIds.get(id) ?? 0) + 1);
      waiting.push(response);
      response.once('close', () => {
        const index = waiting.indexOf(response);
        if (index >= 0) waiting.splice(index, 1);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    waiting,
    seen,
    /** Answers those that have waited longest. */
    answer(count = waiting.length, statusCode = 200) {
      for (const response of waiting.splice(0, count)) response.writeHead(statusCode).end();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
