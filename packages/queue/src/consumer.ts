import { mayMakeRoom, sliceMessages, type Intake, type IntakeLimits } from '@hqrelay/flow/intake';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { BrokerConnection, ChannelUser } from './connection.ts';
import { Slice } from './slice.ts';
import type { Verdict } from './slice.ts';

export type { Verdict } from './slice.ts';

export type ReceivedMessage = {
  /** Of its own: safe to keep. */
  content: Buffer;
  /** The broker gave it out before: somebody may have worked on it already. */
  redelivered: boolean;
};

export type ConsumerOptions = {
  queue: string;
  connection: BrokerConnection;
  /** Messages held unacknowledged at once. */
  prefetch: number;
  /** Bounds the memory too: bytes of messages held at once, of which none is larger than `messageBytesMax`. */
  memory?: { bytesMax: number; messageBytesMax: number };
  handle: (message: ReceivedMessage) => Promise<Verdict>;
  /** Past that the message is given back, whatever `handle` still does. */
  handleWithinMs?: number;
  /** Told when `handle` throws or takes too long; the message is given back. */
  onError: (error: unknown) => void;
};

/** How long a message that is given back stays with us first, so that a fault does not become a loop at full speed. */
const requeueAfterMs = 1_000;
const handleWithinMsDefault = 840_000;
/** Verdicts that have waited for room so long show that there are too many slices. */
const shrinkAfterMs = 100;

/**
 * The longest that a message stays unacknowledged: its own handling, and that of those that its verdict may have to wait
 * for. The broker takes a message away after 30 minutes unless told otherwise.
 */
export const unacknowledgedMsMax = 2 * (handleWithinMsDefault + requeueAfterMs) + 10_000;

/**
 * Consumes with manual acknowledgement; nothing else touches its channels.
 *
 * The broker's prefetch counts messages, and memory is bytes. So a queue is consumed in slices with a small prefetch each:
 * more are opened while messages turn out small, and closed again when there is nothing for them to do. An acknowledgement
 * is room for another message, of any size: one that would be too much waits until there are fewer slices or memory is free.
 */
export class Consumer implements ChannelUser {
  readonly name: string;
  readonly #options: ConsumerOptions;
  readonly #limits: IntakeLimits;
  readonly #sliceMessages: number;
  #model: ChannelModel | undefined;
  /** In the order they were opened. */
  #slices: Slice[] = [];
  #first: Slice | undefined;
  #slicesOpened = 0;
  /** Messages of a slice that is being opened. */
  #opening = 0;
  #shrinkTimer: NodeJS.Timeout | undefined;
  #draining = false;
  #inFlight = 0;
  #bytes = 0;
  #drained: (() => void) | undefined;

  constructor(options: ConsumerOptions) {
    this.name = options.queue;
    this.#options = options;
    const { prefetch, memory } = options;
    this.#limits = {
      messagesMax: prefetch,
      bytesMax: Number.POSITIVE_INFINITY,
      messageBytesMax: 0,
      ...memory,
    };
    this.#sliceMessages = memory ? sliceMessages(this.#limits) : prefetch;
    options.connection.use(this);
  }

  /** Whether the broker has it registered as a consumer. */
  get isConsuming(): boolean {
    return this.#first !== undefined && !this.#draining;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Messages that the broker has not been told the verdict on. */
  get unacknowledged(): number {
    return this.#slices.reduce((sum, slice) => sum + slice.prefetch - slice.room, 0);
  }

  /** Bytes of the messages in flight. */
  get bytesInFlight(): number {
    return this.#bytes;
  }

  async open(model: ChannelModel): Promise<Channel> {
    this.#model = model;
    this.#first = await this.#openSlice(model, Math.max(1, this.#nextSliceMessages));
    return this.#first.channel;
  }

  /** The first slice is lost, whose channel the connection watches. The others may live on: each says for itself when it does not. */
  lost(): void {
    this.#model = undefined;
    this.#first = undefined;
  }

  /**
   * Starts nothing new and waits until what is in flight has its verdict, or `deadlineMs` is over. It does not cancel: later
   * messages would go to another consumer while earlier ones are still worked on here. And it tells no verdict before the
   * end (`close`), since each would bring another message.
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

  /** Ends the subscription: every verdict is told, and what has none goes back. */
  async close(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#shrinkTimer);
    // First all of them, so that what one gives back does not go to another.
    await Promise.all(this.#slices.map((slice) => slice.cancel()));
    await Promise.all(this.#slices.map((slice) => slice.close()));
  }

  get #intake(): Intake {
    const room = this.#slices.reduce((sum, slice) => sum + slice.room, this.#opening);
    return { bytes: this.#bytes, room };
  }

  get #nextSliceMessages(): number {
    const open = this.#slices.reduce((sum, { prefetch }) => sum + prefetch, 0);
    return Math.min(this.#sliceMessages, this.#limits.messagesMax - open);
  }

  /** Opens slices, one after another, as long as there is room for what they may bring. */
  #grow(): void {
    const model = this.#model;
    const messages = this.#nextSliceMessages;
    const isRoom = messages > 0 && mayMakeRoom(this.#limits, this.#intake, messages);
    if (!model || !isRoom || this.#draining || this.#opening > 0) return;
    this.#openSlice(model, messages).catch(() => {
      // The connection has died, and what opens it again opens the first slice.
    });
  }

  async #openSlice(model: ChannelModel, messages: number): Promise<Slice> {
    // Counted from now on: nothing else may take the room.
    this.#opening = messages;
    // A tag of its own: a broker may confuse what it sent under a tag that it has seen before.
    this.#slicesOpened += 1;
    let slice: Slice;
    try {
      slice = await Slice.create(model, messages, `${this.name}.${this.#slicesOpened}`);
    } finally {
      this.#opening = 0;
    }
    this.#slices.push(slice);
    await slice.consume(this.name, {
      onMessage: (from, message) => this.#receive(from, message),
      onLost: (lost) => {
        this.#slices = this.#slices.filter((each) => each !== lost);
        this.#settle();
      },
    });
    if (this.#draining) await slice.close();
    else this.#settle();
    return slice;
  }

  #receive(slice: Slice, message: ConsumeMessage): void {
    this.#bytes += message.content.length;
    this.#inFlight += 1;
    void this.#work(slice, message);
    this.#grow();
  }

  async #work(slice: Slice, message: ConsumeMessage): Promise<void> {
    const bytes = message.content.length;
    const content = ownBytes(message.content);
    message.content = nothing;
    const verdict = this.#draining
      ? 'requeue'
      : await this.#verdictOn({ content, redelivered: message.fields.redelivered });
    this.#inFlight -= 1;
    this.#bytes -= bytes;
    slice.done(message, verdict);
    this.#settle();
    if (this.#inFlight === 0) this.#drained?.();
  }

  async #verdictOn(delivered: ReceivedMessage): Promise<Verdict> {
    let verdict: Verdict;
    try {
      verdict = await this.#handleInTime(delivered);
    } catch (error) {
      this.#options.onError(error);
      verdict = 'requeue';
    }
    if (verdict === 'requeue' && !this.#draining) {
      await new Promise((resolve) => setTimeout(resolve, requeueAfterMs));
    }
    return verdict;
  }

  async #handleInTime(delivered: ReceivedMessage): Promise<Verdict> {
    const { handle, handleWithinMs = handleWithinMsDefault, queue } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error(`a message of ${queue} took longer than ${handleWithinMs} ms`));
      timer = setTimeout(giveUp, handleWithinMs);
    });
    try {
      return await Promise.race([handle(delivered), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells the broker the verdicts that leave no more room than there may be. */
  #settle(): void {
    if (this.#draining) return;
    const { bytes, ...intake } = this.#intake;
    let { room } = intake;
    let isWithheld = false;
    // The first ones first: the last ones are then the ones that can be closed.
    for (const slice of this.#slices) {
      if (slice.retiring) {
        if (slice.isIdle) void slice.close();
        continue;
      }
      while (mayMakeRoom(this.#limits, { bytes, room }, 1) && slice.settleNext()) room += 1;
      isWithheld ||= slice.withheld > 0;
    }
    if (isWithheld) this.#shrinkTimer ??= setTimeout(() => this.#shrink(), shrinkAfterMs);
    this.#grow();
  }

  /** Closes as many slices as could have held the verdicts that wait. */
  #shrink(): void {
    this.#shrinkTimer = undefined;
    const open = this.#slices.filter((slice) => !slice.retiring);
    const withheld = open.reduce((sum, slice) => sum + slice.withheld, 0);
    const excess = Math.ceil(withheld / this.#sliceMessages);
    const others = open.filter((slice) => slice !== this.#first);
    if (excess > 0) for (const slice of others.slice(-excess)) slice.retiring = true;
    this.#settle();
  }
}

const nothing = Buffer.alloc(0);

/** A small content is a view into the socket's read buffer, which would live as long as the delivery takes. */
function ownBytes(content: Buffer): Buffer {
  return content.length === content.buffer.byteLength ? content : Buffer.from(content);
}
