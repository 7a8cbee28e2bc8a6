import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Verdict } from './acknowledgements.ts';
import { AdaptivePrefetch } from './adaptive-prefetch.ts';
import type { BrokerConnection, ChannelUser } from './connection/broker-connection.ts';
import { enqueuedAtOf } from './enqueued-at.ts';
import { Subscription } from './subscription.ts';

export type { Verdict } from './acknowledgements.ts';

export type ReceivedMessage = {
  /** Not a view into the socket's buffer, so holding it does not hold more memory. */
  content: Buffer;
  /** AMQP's flag: the broker delivered this message before. */
  redelivered: boolean;
};

export type ConsumerOptions = {
  queue: string;
  connection: BrokerConnection;
  /** Messages held unacknowledged at once. */
  prefetch: number;
  /** How many more are held while messages take long. */
  prefetchMore?: number;
  /** How long no message has taken long when an idle consumer takes `prefetch` again. */
  usualAfterMs?: number;
  /** The largest message that the queue is for; bounds the memory to as many of them as are held. */
  messageBytesMax?: number;
  handle: (message: ReceivedMessage) => Promise<Verdict>;
  /** After this time the message is requeued, although `handle` may still run. */
  handleWithinMs?: number;
  /** Called when `handle` throws or takes too long; the message is requeued. */
  onError: (error: unknown) => void;
};

/** A message is requeued only after this pause, so that a fault does not become a loop at full speed. */
const requeueAfterMs = 1_000;
/** When so much of the prefetch is held for `slowAfterMs`, or is older than a message that has finished, it may keep others out. */
const slowShare = 0.5;
const slowAfterMs = 300;
const checkEveryMs = 100;
const usualAfterMsDefault = 60_000;
const handleWithinMsDefault = 840_000;

/**
 * The longest time that a message stays unacknowledged: its own handling, and at shutdown that of the messages in flight with
 * it, whose verdicts are sent together. The broker requeues a message after 30 minutes unless configured otherwise.
 */
export const unacknowledgedMsMax = 2 * (handleWithinMsDefault + requeueAfterMs) + 10_000;

/** A message that is being handled, without what only its arrival needs. `startedAt`: `performance.now()`, ms. */
type Handling = { subscription: Subscription; deliveryTag: number; bytes: number; startedAt: number };

/** Consumes one queue with manual acknowledgement; nothing else touches its channel. */
export class Consumer implements ChannelUser {
  readonly name: string;
  readonly #options: ConsumerOptions;
  readonly #prefetch: AdaptivePrefetch;
  #subscription: Subscription | undefined;
  #subscriptionsOpened = 0;
  /** Oldest first. */
  readonly #handlings = new Set<Handling>();
  #expiry: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;
  #slowAt = Number.NEGATIVE_INFINITY;
  /** When the newest message that has finished arrived; `performance.now()`, ms. */
  #newestFinishedAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;
  #inFlight = 0;
  #bytes = 0;
  #newestEnqueuedAt: number | undefined;
  #drained: (() => void) | undefined;

  constructor(options: ConsumerOptions) {
    this.name = options.queue;
    this.#options = options;
    this.#prefetch = new AdaptivePrefetch(
      options.prefetch,
      options.messageBytesMax ?? Number.POSITIVE_INFINITY,
      options.prefetch + (options.prefetchMore ?? 0),
    );
    options.connection.use(this);
  }

  /** Whether the broker sends messages to this consumer. */
  get isConsuming(): boolean {
    return this.#subscription !== undefined && !this.#isDraining;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Messages that the broker has no verdict on. */
  get unacknowledged(): number {
    return this.#subscription?.unacknowledged ?? 0;
  }

  /** Bytes of the messages in flight. */
  get bytesInFlight(): number {
    return this.#bytes;
  }

  /** When the newest message that this consumer received had entered the queue, ms since epoch. */
  get newestEnqueuedAt(): number | undefined {
    return this.#newestEnqueuedAt;
  }

  async open(model: ChannelModel): Promise<Channel> {
    this.#subscriptionsOpened += 1;
    const subscription = await Subscription.open(model, {
      queue: this.name,
      prefetch: this.#prefetch.at(Date.now()),
      consumerTag: `${this.name}.${this.#subscriptionsOpened}`,
      onMessage: (from, message) => this.#receive(from, message),
    });
    this.#subscription = subscription;
    if (this.#isDraining) subscription.pause();
    const { prefetchMore } = this.#options;
    if (prefetchMore)
      this.#check = setInterval(() => this.#adapt(subscription, prefetchMore), checkEveryMs).unref();
    return subscription.channel;
  }

  lost(): void {
    clearInterval(this.#check);
    this.#subscription = undefined;
  }

  /**
   * Starts nothing new and waits until every message in flight has its verdict, or `deadlineMs` is over. It does not cancel:
   * later messages would go to another worker while earlier ones are still worked on here. And it sends no verdict before
   * `close`, since each would bring another message.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    this.#subscription?.pause();
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Cancels and sends every verdict; the broker requeues what has none. */
  async close(): Promise<void> {
    this.#isDraining = true;
    await this.#subscription?.close();
  }

  #receive(subscription: Subscription, message: ConsumeMessage): void {
    const bytes = message.content.length;
    this.#inFlight += 1;
    this.#bytes += bytes;
    this.#prefetch.received(bytes, this.#bytes, Date.now());
    const { deliveryTag, redelivered } = message.fields;
    const handling = { subscription, deliveryTag, bytes, startedAt: performance.now() };
    if (this.#isDraining) {
      this.#finish(handling, 'requeue');
    } else {
      this.#handlings.add(handling);
      this.#newestEnqueuedAt = later(this.#newestEnqueuedAt, enqueuedAtOf(message.properties));
      this.#expire();
      this.#handle(handling, { content: ownBytes(message.content), redelivered });
    }
    this.#reopenIfOutgrown(subscription);
  }

  #handle(handling: Handling, message: ReceivedMessage): void {
    try {
      this.#options.handle(message).then(
        (verdict) => this.#handled(handling, verdict),
        (error: unknown) => this.#failed(handling, error),
      );
    } catch (error) {
      this.#failed(handling, error);
    }
  }

  #failed(handling: Handling, error: unknown): void {
    if (!this.#handlings.has(handling)) return;
    this.#options.onError(error);
    this.#handled(handling, 'requeue');
  }

  /** A message that took too long has its verdict already. */
  #handled(handling: Handling, verdict: Verdict): void {
    if (!this.#handlings.delete(handling)) return;
    if (handling.startedAt > this.#newestFinishedAt) this.#newestFinishedAt = handling.startedAt;
    if (verdict === 'ack' || this.#isDraining) this.#finish(handling, verdict);
    else setTimeout(() => this.#finish(handling, verdict), requeueAfterMs);
  }

  #finish({ subscription, deliveryTag, bytes }: Handling, verdict: Verdict): void {
    this.#inFlight -= 1;
    this.#bytes -= bytes;
    subscription.finish(deliveryTag, verdict);
    this.#reopenIfOutgrown(subscription);
    if (this.#inFlight === 0) this.#drained?.();
  }

  /** Requeues the messages that took too long, oldest first, and sets a timer for the next one. */
  #expire(): void {
    if (this.#expiry) return;
    const { handleWithinMs = handleWithinMsDefault, queue } = this.#options;
    for (const handling of this.#handlings) {
      const remainingMs = handling.startedAt + handleWithinMs - performance.now();
      if (remainingMs > 0) {
        this.#expiry = setTimeout(() => {
          this.#expiry = undefined;
          this.#expire();
        }, remainingMs).unref();
        return;
      }
      this.#failed(handling, new Error(`a message of ${queue} took longer than ${handleWithinMs} ms`));
    }
  }

  /** Takes more messages at once when those it has take long, and as many as usual when it is idle and they have not for a while. */
  #adapt(subscription: Subscription, prefetchMore: number): void {
    const { usualAfterMs = usualAfterMsDefault } = this.#options;
    if (this.#isDraining || this.#prefetch.isReduced(Date.now())) return;
    const now = performance.now();
    if (this.#isSlow(now)) this.#slowAt = now;
    if (!subscription.isExtended && this.#slowAt === now) {
      subscription.extend(prefetchMore).catch(() => {
        // Its channel is closed, and is opened again.
      });
    } else if (subscription.isExtended && this.#inFlight === 0 && now - this.#slowAt > usualAfterMs) {
      void subscription.end();
    }
  }

  #isSlow(now: number): boolean {
    const before = Math.max(now - slowAfterMs, this.#newestFinishedAt);
    let older = 0;
    for (const { startedAt } of this.#handlings) {
      if (startedAt >= before) return false;
      older += 1;
      if (older >= this.#options.prefetch * slowShare) return true;
    }
    return false;
  }

  /** The supervisor of the connection opens the channel again, with the prefetch that is right by then. */
  #reopenIfOutgrown(subscription: Subscription): void {
    const now = Date.now();
    const isOutgrown =
      subscription.prefetch !== this.#prefetch.at(now) ||
      (subscription.isExtended && this.#prefetch.isReduced(now));
    if (!this.#isDraining && isOutgrown) void subscription.end();
  }
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

/** A small content is a view into the socket's read buffer, which would live as long as the delivery takes. */
function ownBytes(content: Buffer): Buffer {
  return content.length === content.buffer.byteLength ? content : Buffer.from(content);
}
