import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { BrokerConnection, ChannelUser } from './connection.ts';

export type Delivered = {
  /** A copy of its own: safe to keep. */
  content: Buffer;
  /** The broker gave it out before: somebody may have worked on it already. */
  redelivered: boolean;
};

/** What becomes of a message. Parking is publishing it elsewhere first, then `ack`. */
export type Verdict = 'ack' | 'requeue';

export type ConsumerOptions = {
  queue: string;
  connection: BrokerConnection;
  /** Messages held unacknowledged at once. */
  prefetch: number;
  handle: (message: Delivered) => Promise<Verdict>;
  /** Told when `handle` throws; the message is given back. */
  onError: (error: unknown) => void;
};

/** How long a message that is given back stays with us first, so that a fault does not become a loop at full speed. */
const requeueAfterMs = 1_000;

/** Consumes with manual acknowledgement; nothing else touches its channel. */
export class Consumer implements ChannelUser {
  readonly name: string;
  readonly #options: ConsumerOptions;
  #channel: Channel | undefined;
  #draining = false;
  #inFlight = 0;
  #drained: (() => void) | undefined;

  constructor(options: ConsumerOptions) {
    this.name = options.queue;
    this.#options = options;
    options.connection.use(this);
  }

  /** Whether the broker has it registered as a consumer. */
  get isConsuming(): boolean {
    return this.#channel !== undefined && !this.#draining;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  async open(model: ChannelModel): Promise<Channel> {
    const channel = await model.createChannel();
    await channel.prefetch(this.#options.prefetch);
    await channel.consume(this.#options.queue, (message) => this.#receive(channel, message), {
      noAck: false,
    });
    this.#channel = channel;
    return channel;
  }

  lost(): void {
    this.#channel = undefined;
  }

  /**
   * Starts nothing new and waits until what is in flight has its verdict, or `deadlineMs` is over. What came meanwhile
   * goes back in order when the connection is closed: cancelling first would hand later messages to another consumer
   * while earlier ones are still worked on here.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #receive(channel: Channel, message: ConsumeMessage | null): void {
    if (message === null) {
      // Cancelled by the broker. The channel goes, and the connection opens this consumer again.
      channel.close().catch(() => {});
      return;
    }
    if (this.#draining) return;
    void this.#work(channel, message);
  }

  async #work(channel: Channel, message: ConsumeMessage): Promise<void> {
    this.#inFlight += 1;
    let verdict: Verdict;
    try {
      // The content is a view into the socket's read buffer, which would live as long as the delivery takes.
      const content = Buffer.from(message.content);
      verdict = await this.#options.handle({ content, redelivered: message.fields.redelivered });
    } catch (error) {
      this.#options.onError(error);
      verdict = 'requeue';
    }
    if (verdict === 'requeue' && !this.#draining) {
      await new Promise((resolve) => setTimeout(resolve, requeueAfterMs));
    }
    try {
      if (verdict === 'ack') channel.ack(message);
      else channel.nack(message, false, true);
    } catch {
      // The channel died meanwhile, and the broker gives the message out again.
    }
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#drained?.();
  }
}
