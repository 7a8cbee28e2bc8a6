import { Agent, request } from 'node:http';

export type TimedPost = {
  /** `answer`: status, header names in their order, values that may not differ, and the body. */
  send: (
    url: string,
    body: Buffer,
    signature: string | undefined,
  ) => Promise<{ durationMs: number; answer: string }>;
  close: () => void;
};

/** Posts over one connection, and takes the time from the first byte of the request to the last of the answer. */
export function createTimedPost(): TimedPost {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (url, body, signature) =>
      new Promise((resolve, reject) => {
        const headers = {
          'Content-Length': body.length,
          ...(signature !== undefined && { 'X-Hub-Signature-256': signature }),
        };
        const startedAt = performance.now();
        const sent = request(url, { method: 'POST', agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const durationMs = performance.now() - startedAt;
            const constant = response.rawHeaders.map((text, index, all) =>
              index % 2 === 1 && /^(?:date|x-correlation-id)$/i.test(all[index - 1] as string) ? '*' : text,
            );
            const answer = [response.statusCode, ...constant, Buffer.concat(chunks).toString()].join('\n');
            resolve({ durationMs, answer });
          });
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
