import { request as httpRequest, type Agent } from 'node:http';

/** The outcome of one request. Times are `performance.now()`, ms. */
export type Answer = {
  /** The receiver's port. */
  port: number;
  sentAt: number;
  tookMs: number;
  /** `refused`: no process listened, so nothing was in flight. */
  outcome: 'accepted' | 'unavailable' | 'refused' | 'reset' | 'timed_out' | 'unexpected';
  detail?: string;
  /** In a 202. */
  id?: string;
  /** In a 503. */
  retryAfterMs?: number;
};

export type ProviderRequest = { path: string; headers: Readonly<Record<string, string>>; body: Buffer };

type Outcome = Pick<Answer, 'outcome' | 'detail' | 'id' | 'retryAfterMs'>;

/** Providers wait about this long for an answer. */
const timeoutMs = 3_000;

/** Posts to a receiver. Never throws: every failure is an outcome. */
export async function postAsProvider(agent: Agent, port: number, request: ProviderRequest): Promise<Answer> {
  const sentAt = performance.now();
  const outcome = await exchange(agent, port, request);
  return { port, sentAt, tookMs: performance.now() - sentAt, ...outcome };
}

function exchange(agent: Agent, port: number, { path, headers, body }: ProviderRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    const end = (outcome: Outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method: 'POST', headers, agent },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', () => end({ outcome: 'reset' }));
        response.once('end', () => {
          const retryAfterMs = Number(response.headers['retry-after'] ?? 1) * 1_000;
          end(outcomeOf(response.statusCode ?? 0, retryAfterMs, Buffer.concat(chunks).toString()));
        });
      },
    );
    const timer = setTimeout(() => {
      end({ outcome: 'timed_out' });
      request.destroy();
    }, timeoutMs);
    request.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      end({ outcome: code === 'ECONNREFUSED' ? 'refused' : 'reset', detail: message }),
    );
    request.end(body);
  });
}

function outcomeOf(statusCode: number, retryAfterMs: number, text: string): Outcome {
  if (statusCode === 202) return { outcome: 'accepted', id: (JSON.parse(text) as { id: string }).id };
  if (statusCode === 503) return { outcome: 'unavailable', retryAfterMs };
  return { outcome: 'unexpected', detail: `${statusCode} ${text.slice(0, 200)}` };
}
