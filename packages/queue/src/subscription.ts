import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { Acknowledgements, type Verdict } from './acknowledgements.ts';

export type SubscriptionOptions = {
  queue: string;
  prefetch: number;
  /** Must be new: RabbitMQ 3.10 may confuse the deliveries of two consumers that use one tag after the other. */
  consumerTag: string;
  onMessage: (subscription: Subscription, message: ConsumeMessage) => void;
};

/** Consumes one queue on a channel of its own. */
export class Subscription {
  readonly channel: Channel;
  readonly #options: SubscriptionOptions;
  readonly #acknowledgements: Acknowledgements;
  readonly #consumerTags: string[] = [];
  #inFlight = 0;
  #isEnding = false;
  #isClosing = false;
  #cancelling: Promise<void> | undefined;

  private constructor(channel: Channel, options: SubscriptionOptions) {
    this.channel = channel;
    this.#options = options;
    this.#acknowledgements = new Acknowledgements(channel);
  }

  static async open(model: ChannelModel, options: SubscriptionOptions): Promise<Subscription> {
    const channel = await model.createChannel();
    // The connection's supervisor sees the close that follows; an unhandled 'error' event would end the process.
    channel.on('error', () => {});
    const subscription = new Subscription(channel, options);
    await subscription.#consume(options.prefetch, options.consumerTag);
    return subscription;
  }

  get prefetch(): number {
    return this.#options.prefetch;
  }

  get isExtended(): boolean {
    return this.#consumerTags.length > 1;
  }

  /**
   * Takes so many messages more at once, until it is closed. A second consumer on the same channel: RabbitMQ fixes the prefetch
   * of one when it begins. Called once; rejects when the channel closes.
   */
  async extend(prefetch: number): Promise<void> {
    if (this.#isEnding) return;
    await this.#consume(prefetch, `${this.#options.consumerTag}.more`);
  }

  /** Messages that the broker has no verdict on. */
  get unacknowledged(): number {
    return this.#acknowledgements.pending;
  }

  /** Called once for each message that was passed to `onMessage`. */
  finish(deliveryTag: number, verdict: Verdict): void {
    this.#inFlight -= 1;
    this.#acknowledgements.add(deliveryTag, verdict);
    if (this.#isEnding && this.#inFlight === 0) void this.close();
  }

  /** Sends no verdict before `close`: for each one the broker would send another message. */
  pause(): void {
    this.#acknowledgements.pause();
  }

  /** Passes on no further message, and closes when those in flight are finished. */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await this.cancel();
    if (this.#inFlight === 0) await this.close();
  }

  /**
   * Stops consuming. The channel has to be closed after that: RabbitMQ 3.10 may neither deliver nor requeue a message that it
   * sends while it cancels, until the channel is closed.
   */
  cancel(): Promise<void> {
    this.#isEnding = true;
    this.#cancelling ??= this.#cancelAll();
    return this.#cancelling;
  }

  /** Sends every verdict and closes the channel; the broker requeues what has none. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    await this.cancel();
    this.#acknowledgements.sendAll();
    await this.channel.close().catch(() => {
      // It is closed already.
    });
  }

  async #consume(prefetch: number, consumerTag: string): Promise<void> {
    this.#consumerTags.push(consumerTag);
    await this.channel.prefetch(prefetch);
    await this.channel.consume(this.#options.queue, (message) => this.#receive(message), { consumerTag });
  }

  async #cancelAll(): Promise<void> {
    try {
      for (const consumerTag of this.#consumerTags) {
        await this.channel.cancel(consumerTag);
        // In a cluster a message may still be on its way; amqplib would end the connection for an unknown consumer tag.
        (this.channel as RegistersConsumers).registerConsumer(consumerTag, () => {});
      }
    } catch {
      // The channel is closed already.
    }
  }

  #receive(message: ConsumeMessage | null): void {
    if (message === null) {
      // The broker cancelled the consumer, as when its queue is deleted.
      this.channel.close().catch(() => {
        // It is closed already.
      });
      return;
    }
    this.#acknowledgements.expect(message.fields.deliveryTag);
    if (this.#isEnding) return;
    this.#inFlight += 1;
    this.#options.onMessage(this, message);
  }
}

type RegistersConsumers = Channel & { registerConsumer(tag: string, take: () => void): void };
