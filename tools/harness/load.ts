import { Agent, request as httpRequest } from 'node:http';
import { signAsProvider } from '@hqrelay/testing/provider';
import type { SeededProject } from '@hqrelay/testing/seed';

/** The outcome of one request. Times are `performance.now()`, ms. */
export type Answer = {
  /** The receiver's port. */
  port: number;
  sentAt: number;
  tookMs: number;
  /** `refused`: no process listened, so nothing was in flight. */
  outcome: 'accepted' | 'unavailable' | 'refused' | 'reset' | 'timed_out' | 'unexpected';
  detail?: string;
};

/** One event of a provider, sent under the same id until it is answered 202. */
export type SentWebhook = {
  projectId: string;
  webhookId: string;
  /** The ids in its 202s. More than one is a defect: the relay has the webhook twice. */
  ids: Set<string>;
  /** Answers 202 after the first, to a provider that had not seen the first. */
  replays: number;
  /** When the first 202 came. */
  acceptedAt?: number;
};

type Receiver = { port: number };

/** As providers do. */
const timeoutMs = 3_000;
const resendAfterMs = 500;
const outstandingMax = 2_000;
/** One webhook in so many is sent again after its 202, as by a provider that never saw the answer. */
const resentOneIn = 20;
const resentAfterMs = 1_500;
const tickMs = 10;

/**
 * Providers of several projects: a steady rate of new webhooks, in turn over projects and receivers, whatever the answers
 * are; and every webhook again, with the same id, after a 503 (heeding Retry-After), a reset or no answer, some after a 202 too.
 */
export class Load {
  readonly answers: Answer[] = [];
  readonly webhooks: SentWebhook[] = [];
  #accepted = 0;
  #outstanding = 0;
  #nextReceiver = 0;
  #stopped = false;
  #abandoned = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #inFlight = new Map<number, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });
  readonly #projects: readonly SeededProject[];
  readonly #receivers: readonly Receiver[];

  constructor(projects: readonly SeededProject[], receivers: readonly Receiver[]) {
    this.#projects = projects;
    this.#receivers = receivers;
  }

  /** Webhooks that were answered 202. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Webhooks that are still being sent, or wait to be sent again. */
  get outstanding(): number {
    return this.#outstanding;
  }

  /** Requests without an answer yet, at one receiver or at all. */
  inFlight(port?: number): number {
    if (port !== undefined) return this.#inFlight.get(port) ?? 0;
    return [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
  }

  start(perSecond: number): void {
    let due = 0;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      due += ((now - last) / 1_000) * perSecond;
      last = now;
      for (; due >= 1; due -= 1) if (this.#outstanding < outstandingMax) void this.#send();
    }, tickMs);
  }

  /** No new webhooks; those in flight are sent until they are answered 202. */
  stop(): void {
    clearInterval(this.#timer);
    this.#stopped = true;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Gives up every webhook that has no 202 yet. */
  close(): void {
    this.stop();
    this.#abandoned = true;
    this.#agent.destroy();
  }

  async #send(): Promise<void> {
    const number = this.webhooks.length;
    const project = this.#projects[number % this.#projects.length] as SeededProject;
    const webhookId = `evt_${number}`;
    const webhook: SentWebhook = { projectId: project.id, webhookId, ids: new Set(), replays: 0 };
    this.webhooks.push(webhook);
    const body = bodyOf(webhookId);
    const headers = {
      'content-type': 'application/json',
      'content-length': String(body.length),
      'x-webhook-id': webhookId,
      ...signAsProvider(project, body),
    };
    this.#outstanding += 1;
    while (!this.#abandoned) {
      const { answer, id, retryAfterMs } = await this.#post(`/v1/webhooks/${project.id}`, headers, body);
      if (this.#abandoned) break;
      this.answers.push(answer);
      if (answer.outcome === 'accepted') {
        webhook.ids.add(String(id));
        if (webhook.acceptedAt !== undefined) {
          webhook.replays += 1;
          break;
        }
        webhook.acceptedAt = performance.now();
        this.#accepted += 1;
        if (number % resentOneIn !== 0 || this.#stopped) break;
        await wait(resentAfterMs);
        continue;
      }
      if (answer.outcome === 'unexpected') break;
      // A balancer in front of the receivers would skip one that does not listen.
      await wait(answer.outcome === 'refused' ? 20 : (retryAfterMs ?? resendAfterMs));
    }
    this.#outstanding -= 1;
  }

  #post(
    path: string,
    headers: Record<string, string>,
    body: Buffer,
  ): Promise<{ answer: Answer; id?: unknown; retryAfterMs?: number }> {
    const { port } = this.#receivers[this.#nextReceiver++ % this.#receivers.length] as Receiver;
    const sentAt = performance.now();
    this.#inFlight.set(port, this.inFlight(port) + 1);
    return new Promise((resolve) => {
      let settled = false;
      const settle = (
        outcome: Answer['outcome'],
        rest: { detail?: string; id?: unknown; retryAfterMs?: number } = {},
      ) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        this.#inFlight.set(port, this.inFlight(port) - 1);
        const { detail, ...more } = rest;
        const tookMs = performance.now() - sentAt;
        resolve({
          answer: { port, sentAt, tookMs, outcome, ...(detail !== undefined && { detail }) },
          ...more,
        });
      };
      const request = httpRequest(
        { host: '127.0.0.1', port, path, method: 'POST', headers, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', () => settle('reset'));
          response.once('end', () => {
            const text = Buffer.concat(chunks).toString();
            const { statusCode = 0 } = response;
            if (statusCode === 202) settle('accepted', { id: (JSON.parse(text) as { id: string }).id });
            else if (statusCode === 503) {
              const retryAfterMs = Number(response.headers['retry-after'] ?? 1) * 1_000;
              settle('unavailable', { retryAfterMs });
            } else settle('unexpected', { detail: `${statusCode} ${text.slice(0, 200)}` });
          });
        },
      );
      const timer = setTimeout(() => {
        settle('timed_out');
        request.destroy();
      }, timeoutMs);
      request.once('error', (error: NodeJS.ErrnoException) =>
        settle(error.code === 'ECONNREFUSED' ? 'refused' : 'reset', { detail: error.message }),
      );
      request.end(body);
    });
  }
}

const padding = 'x'.repeat(900);

/** About 1 KiB, and never the same. */
function bodyOf(webhookId: string): Buffer {
  return Buffer.from(
    JSON.stringify({ event: 'payment.captured', id: webhookId, at: new Date().toISOString(), padding }),
  );
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
