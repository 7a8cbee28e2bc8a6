import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { signAsProvider } from '@hqrelay/testing/provider';
import type { SeededProject } from '@hqrelay/testing/seed';
import { postAsProvider, type Answer, type ProviderRequest } from './post-as-provider.ts';

/** One event of a provider, sent under the same id until it is answered 202. */
export type SentWebhook = {
  projectId: string;
  webhookId: string;
  /** The value of `/order` in its body. */
  orderKey: string;
  /** When it was first sent. `performance.now()`, ms, as `acceptedAt`. */
  sentAt: number;
  /** The same in every try. */
  request: ProviderRequest;
  /** The ids in its 202s. More than one is a defect: the relay has the webhook twice. */
  ids: Set<string>;
  /** When the first 202 came. */
  acceptedAt?: number;
};

type Receiver = { port: number };

const resendAfterMs = 500;
const outstandingMax = 2_000;
/** One webhook in so many is sent again after its 202, as by a provider that did not get the answer. */
const resentOneIn = 20;
const resentAfterMs = 1_500;
const largeOneIn = 33;
const tickMs = 10;
const orderKeys = 20;

/**
 * Providers of several projects. They send new webhooks at a steady rate, in turn over projects and receivers, whatever the
 * answers are. They send a webhook again, with the same id, after a 503 (heeding Retry-After), a reset or no answer, and some
 * after a 202 too.
 */
export class Load {
  readonly answers: Answer[] = [];
  readonly webhooks: SentWebhook[] = [];
  #accepted = 0;
  #outstanding = 0;
  #sentAgain = 0;
  #stopped = false;
  #abandoned = false;
  #timer: NodeJS.Timeout | undefined;
  #projects: readonly SeededProject[];
  #receivers: readonly Receiver[];
  #nextReceiver = 0;
  readonly #inFlight = new Map<number, number>();
  /** The requests in flight, each by when it began. */
  readonly #begun = new Set<{ at: number }>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 512 });

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

  /** Webhooks that `sendAgain` sent until they were answered 202 again. */
  get sentAgain(): number {
    return this.#sentAgain;
  }

  /** Requests without an answer yet, at one receiver or at all. */
  inFlight(port?: number): number {
    if (port !== undefined) return this.#inFlight.get(port) ?? 0;
    return [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Whether a request that was sent before `time`, in `performance.now()`, has no answer yet. */
  isWaitingSince(time: number): boolean {
    return [...this.#begun].some(({ at }) => at < time);
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

  /** New webhooks are of these projects from now on. */
  useProjects(projects: readonly SeededProject[]): void {
    this.#projects = projects;
  }

  /** Requests go to these receivers from now on, as after a change of the balancer in front of them. */
  useReceivers(receivers: readonly Receiver[]): void {
    this.#receivers = receivers;
  }

  /**
   * Sends accepted webhooks again under the same ids, one every 10 ms, as a provider does that got no answer.
   * Resolves when each was answered 202 again.
   */
  async sendAgain(webhooks: readonly SentWebhook[]): Promise<void> {
    const sending: Promise<void>[] = [];
    for (const webhook of webhooks) {
      sending.push(this.#countOutstanding(() => this.#sendUntilAccepted(webhook)));
      await wait(tickMs);
    }
    await Promise.all(sending);
    this.#sentAgain += webhooks.length;
  }

  /** No new webhooks; those in flight are sent until they are answered 202. */
  stop(): void {
    clearInterval(this.#timer);
    this.#stopped = true;
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
    const orderKey = `order_${Math.floor(number / this.#projects.length) % orderKeys}`;
    const webhook = webhookOf(project, number, orderKey);
    this.webhooks.push(webhook);
    await this.#countOutstanding(async () => {
      await this.#sendUntilAccepted(webhook);
      if (number % resentOneIn !== 0 || this.#stopped) return;
      await wait(resentAfterMs);
      await this.#sendUntilAccepted(webhook);
    });
  }

  async #countOutstanding(work: () => Promise<void>): Promise<void> {
    this.#outstanding += 1;
    await work();
    this.#outstanding -= 1;
  }

  async #sendUntilAccepted(webhook: SentWebhook): Promise<void> {
    while (!this.#abandoned) {
      const answer = await this.#post(webhook.request);
      if (this.#abandoned) return;
      this.answers.push(answer);
      if (answer.outcome === 'accepted') {
        webhook.ids.add(String(answer.id));
        if (webhook.acceptedAt === undefined) this.#accepted += 1;
        webhook.acceptedAt ??= performance.now();
        return;
      }
      if (answer.outcome === 'unexpected') return;
      // A balancer in front of the receivers would skip one that does not listen.
      await wait(answer.outcome === 'refused' ? 20 : (answer.retryAfterMs ?? resendAfterMs));
    }
  }

  async #post(request: ProviderRequest): Promise<Answer> {
    const { port } = this.#receivers[this.#nextReceiver++ % this.#receivers.length] as Receiver;
    this.#inFlight.set(port, this.inFlight(port) + 1);
    const begun = { at: performance.now() };
    this.#begun.add(begun);
    const answer = await postAsProvider(this.#agent, port, request);
    this.#begun.delete(begun);
    this.#inFlight.set(port, this.inFlight(port) - 1);
    return answer;
  }
}

function webhookOf(project: SeededProject, number: number, orderKey: string): SentWebhook {
  const webhookId = `evt_${number}`;
  const body = bodyOf(webhookId, number, orderKey);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-webhook-id': webhookId,
    ...signAsProvider(project, body),
  };
  const request = { path: `/v1/webhooks/${project.id}`, headers, body };
  const sentAt = performance.now();
  return { projectId: project.id, webhookId, orderKey, sentAt, request, ids: new Set() };
}

/** Unique. About 1 KiB, and some of 40 KiB, which go through the queues of large messages. */
function bodyOf(webhookId: string, number: number, order: string): Buffer {
  const padding = 'x'.repeat(number % largeOneIn === 0 ? 40_000 : 900);
  return Buffer.from(
    JSON.stringify({
      event: 'payment.captured',
      id: webhookId,
      order,
      at: new Date().toISOString(),
      padding,
    }),
  );
}
