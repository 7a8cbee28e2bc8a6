import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SlowEndpoint = Awaited<ReturnType<typeof startSlowEndpoint>>;

/** Answers no request until the test says so. Bodies are counted and discarded. */
export async function startSlowEndpoint() {
  const waiting: { response: ServerResponse; times: number }[] = [];
  const seen = { requests: 0, bytes: 0, webhookIds: new Map<string, number>() };
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (seen.bytes += chunk.length));
    request.on('end', () => {
      seen.requests += 1;
      const id = String(request.headers['webhook-id']);
      const times = (seen.webhookIds.get(id) ?? 0) + 1;
      seen.webhookIds.set(id, times);
      waiting.push({ response, times });
      response.once('close', () => {
        const index = waiting.findIndex((each) => each.response === response);
        if (index >= 0) waiting.splice(index, 1);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    waiting,
    seen,
    /** Answers the requests that have waited longest. The status depends on how often the webhook has come. */
    answer(count = waiting.length, statusOf: (times: number) => number = () => 200) {
      for (const { response, times } of waiting.splice(0, count)) response.writeHead(statusOf(times)).end();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
