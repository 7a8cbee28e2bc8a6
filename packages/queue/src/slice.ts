import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';

/** What becomes of a message. Parking is publishing it elsewhere first, then `ack`. */
export type Verdict = 'ack' | 'requeue';

type Settled = { message: ConsumeMessage; verdict: Verdict };

export type SliceEvents = {
  onMessage: (slice: Slice, message: ConsumeMessage) => void;
  /** Its channel has died: the broker gives out again what it held. */
  onLost: (slice: Slice) => void;
};

/**
 * A subscription on a channel of its own, with a small prefetch: a part of what a consumer may hold, that can be opened and
 * closed apart from the others.
 */
export class Slice {
  readonly channel: Channel;
  readonly prefetch: number;
  readonly #tag: string;
  /** Messages that the broker has no verdict on, in the order in which they came. */
  readonly #unsettled = new Set<ConsumeMessage>();
  #working = 0;
  /** Verdicts that the broker is not told yet. */
  readonly #withheld: Settled[] = [];
  /** Takes no more work: it is closed as soon as it has none. */
  retiring = false;
  #cancelling: Promise<void> | undefined;

  private constructor(channel: Channel, prefetch: number, tag: string) {
    this.channel = channel;
    this.prefetch = prefetch;
    this.#tag = tag;
  }

  /** A slice that does not consume yet. */
  static async create(model: ChannelModel, prefetch: number, tag: string): Promise<Slice> {
    const channel = await model.createChannel();
    channel.on('error', () => {});
    await channel.prefetch(prefetch);
    return new Slice(channel, prefetch, tag);
  }

  async consume(queue: string, events: SliceEvents): Promise<void> {
    this.channel.once('close', () => events.onLost(this));
    await this.channel.consume(queue, (message) => this.#receive(message, events), {
      consumerTag: this.#tag,
    });
  }

  /** How many messages the broker may still send. */
  get room(): number {
    return this.prefetch - this.#unsettled.size;
  }

  /** How many verdicts the broker is not told yet. */
  get withheld(): number {
    return this.#withheld.length;
  }

  get isIdle(): boolean {
    return this.#working === 0;
  }

  /** A message is done; the broker hears of it with `settleNext`. */
  done(message: ConsumeMessage, verdict: Verdict): void {
    this.#working -= 1;
    this.#withheld.push({ message, verdict });
  }

  /** Tells the broker one verdict, which makes room for another message. False when there is none. */
  settleNext(): boolean {
    const next = this.#withheld.shift();
    if (next) {
      this.#unsettled.delete(next.message);
      this.#tell(next, { andAllBefore: false });
    }
    return next !== undefined;
  }

  /**
   * Ends the subscription: no message follows. To be closed after that: what the broker sends while it cancels can be lost
   * sight of until its channel is closed (seen with 3.10).
   */
  cancel(): Promise<void> {
    this.#cancelling ??= this.channel.cancel(this.#tag).then(
      () => {
        // In a cluster something may still be on its way; amqplib would end the connection for it.
        (this.channel as RegistersConsumers).registerConsumer(this.#tag, () => {});
      },
      () => {
        // The channel has died by itself.
      },
    );
    return this.#cancelling;
  }

  /** Tells all verdicts and closes the channel; what has no verdict goes back. */
  async close(): Promise<void> {
    await this.cancel();
    this.#settleAll();
    await this.channel.close().catch(() => {
      // It is closed already.
    });
  }

  #receive(message: ConsumeMessage | null, events: SliceEvents): void {
    if (message === null) {
      // Cancelled by the broker.
      this.channel.close().catch(() => {});
      return;
    }
    this.#unsettled.add(message);
    if (this.#cancelling) {
      message.content = nothing;
      this.#withheld.push({ message, verdict: 'requeue' });
    } else {
      this.#working += 1;
      events.onMessage(this, message);
    }
  }

  /**
   * One command for as many as follow each other with the same verdict. A channel keeps what is over 32 commands that a quorum
   * queue has not applied yet (`quorum_commands_soft_limit`) to itself, and forgets it when it is closed: of 50
   * acknowledgements just before that, 16 messages came again (3.10).
   */
  #settleAll(): void {
    const verdicts = new Map(this.#withheld.splice(0).map(({ message, verdict }) => [message, verdict]));
    let last: Settled | undefined;
    for (const message of this.#unsettled) {
      const verdict = verdicts.get(message) ?? 'requeue';
      if (last && last.verdict !== verdict) this.#tell(last, { andAllBefore: true });
      last = { message, verdict };
    }
    if (last) this.#tell(last, { andAllBefore: true });
    this.#unsettled.clear();
  }

  #tell({ message, verdict }: Settled, { andAllBefore }: { andAllBefore: boolean }): void {
    try {
      if (verdict === 'ack') this.channel.ack(message, andAllBefore);
      else this.channel.nack(message, andAllBefore, true);
    } catch {
      // The channel died meanwhile, and the broker gives the message out again.
    }
  }
}

type RegistersConsumers = Channel & { registerConsumer(tag: string, take: () => void): void };

const nothing = Buffer.alloc(0);
