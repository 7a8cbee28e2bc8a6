import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import type { Channel, ChannelModel } from 'amqplib';
import { answerWithin } from './answer-within.ts';
import { corkWrites } from './cork-writes.ts';
import { declareTopology } from './declare-topology.ts';
import { destroyModel, openModel } from './open-model.ts';
import { pullBatches, queueDepths, type BatchLimits, type HandleBatch } from './read-queues.ts';

/** A publisher or a consumer: it lives on a channel of its own. */
export type ChannelUser = {
  readonly name: string;
  /** Called on every new connection, and again when its channel alone has closed. */
  open(model: ChannelModel): Promise<Channel>;
  /** Called when the channel is closed, whatever the cause. */
  lost(): void;
  /** Called at shutdown, before the connection is closed. */
  close?(): Promise<void>;
};

export type BrokerConnectionOptions = {
  /** Tried in turn. */
  urls: readonly string[];
  /** Shown in the broker's list of connections. */
  name: string;
  onChange: OnHealthChange;
};

const setUpTimeoutMs = 15_000;
/** For the users to close at shutdown: they may have thousands of acknowledgements to send. */
const usersCloseTimeoutMs = 6_000;
const closeTimeoutMs = 2_000;
const firstRetryMs = 100;
const longestRetryMs = 2_000;

/**
 * A connection that restores itself: it reconnects until it succeeds, asserts the topology each time, and opens its users'
 * channels again, also when one channel alone has closed. amqplib's own recovery is not used: it restores neither channels
 * nor consumers, and a connection that breaks during set-up can end the process or hang it.
 */
export class BrokerConnection {
  readonly #options: BrokerConnectionOptions;
  readonly #users: ChannelUser[] = [];
  readonly #channels = new Set<Channel>();
  readonly #health: HealthTracker;
  #model: ChannelModel | undefined;
  #isStopped = false;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BrokerConnectionOptions) {
    this.#options = options;
    this.#health = new HealthTracker(options.onChange);
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** Registers a user before `start`. */
  use(user: ChannelUser): void {
    this.#users.push(user);
  }

  /** Begins to connect and returns at once: the broker may come up later. */
  start(): void {
    void this.#connect();
  }

  /** Closes the connection. Unacknowledged messages stay with the broker. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const model = this.#model;
    this.#model = undefined;
    if (!model) return;
    // In three steps: amqplib may send the connection's close before frames that a channel has still to send.
    await answerWithin(
      usersCloseTimeoutMs,
      Promise.all(this.#users.map(async (user) => user.close?.())),
    ).catch(() => {
      // Too late: the broker redelivers the messages whose acknowledgements are not sent.
    });
    const closing = [...this.#channels].map((channel) => channel.close());
    await answerWithin(closeTimeoutMs, Promise.all(closing)).catch(() => {
      // Closed already, or the broker does not answer: the close of the connection decides.
    });
    await answerWithin(closeTimeoutMs, model.close()).catch(() => destroyModel(model));
  }

  /** Messages ready in each queue. Throws when there is no connection, or no answer within 2 s. */
  async queueDepths(queues: readonly string[]): Promise<Map<string, number>> {
    return queueDepths(this.#connected(), queues);
  }

  /**
   * Takes the messages of a queue one by one, each acknowledged when `handle` resolves, until the queue is empty. When `handle`
   * throws, `pull` rejects with that error and the message stays in the queue. Returns how many were taken.
   */
  async pull(queue: string, handle: (content: Buffer) => Promise<void>): Promise<number> {
    return this.pullBatches(queue, { messagesMax: 1, bytesMax: 1 }, async (contents) => {
      for (const content of contents) await handle(content);
      return contents.map(() => true);
    });
  }

  /**
   * Takes the messages of a queue in batches, of which the last message may exceed `bytesMax`, until the queue is empty or
   * `stopping` is aborted, and acknowledges those that `handle` returns true for. The others are requeued at the end. When
   * `handle` throws, `pullBatches` rejects and the batch is requeued. Returns how many were acknowledged.
   */
  async pullBatches(queue: string, limits: BatchLimits, handle: HandleBatch): Promise<number> {
    return pullBatches(this.#connected(), queue, limits, handle);
  }

  #connected(): ChannelModel {
    if (!this.#model) throw new Error('not connected');
    return this.#model;
  }

  async #connect(): Promise<void> {
    const url = this.#options.urls[this.#tries % this.#options.urls.length] as string;
    let model: ChannelModel | undefined;
    try {
      model = await openModel(url, this.#options.name);
      const closedBy = this.#listen(model);
      corkWrites(model);
      await answerWithin(setUpTimeoutMs, this.#setUp(model));
      const error = closedBy();
      if (error) throw error;
      if (this.#isStopped) return destroyModel(model);
      this.#model = model;
      this.#tries = 0;
      this.#health.change('up');
    } catch (error) {
      if (model) destroyModel(model);
      this.#retry(error);
    }
  }

  /**
   * Must run before anything else uses the model: an 'error' without a listener ends the process. Returns what the connection
   * was closed by, undefined while it is open.
   */
  #listen(model: ChannelModel): () => Error | undefined {
    let closedBy: Error | undefined;
    const isCurrent = () => this.#model === model;
    model.on('error', (error: Error) => (closedBy = error));
    model.once('close', (error?: Error) => {
      closedBy ??= error ?? new Error('closed by the broker');
      if (!isCurrent()) return;
      this.#model = undefined;
      this.#retry(closedBy);
    });
    model.on('blocked', (reason: string) => isCurrent() && this.#health.change('blocked', reason));
    model.on('unblocked', () => isCurrent() && this.#health.change('up'));
    return () => closedBy;
  }

  async #setUp(model: ChannelModel): Promise<void> {
    await declareTopology(model);
    await Promise.all(this.#users.map((user) => this.#openChannel(user, model)));
  }

  async #openChannel(user: ChannelUser, model: ChannelModel): Promise<void> {
    const channel = await user.open(model);
    this.#channels.add(channel);
    channel.on('error', (error: Error) => this.#health.change(this.#health.state, error.message));
    channel.once('close', () => {
      this.#channels.delete(channel);
      user.lost();
      if (this.#isStopped) return;
      // Channels also close with their connection; only one that closed alone is opened again here. One that closes while
      // others are still being opened ends the connection.
      if (this.#model === model) this.#reopen(user, model);
      else destroyModel(model);
    });
  }

  #reopen(user: ChannelUser, model: ChannelModel): void {
    setTimeout(() => {
      if (this.#model !== model || this.#isStopped) return;
      answerWithin(setUpTimeoutMs, this.#openChannel(user, model)).catch(() => destroyModel(model));
    }, firstRetryMs);
  }

  #retry(error: unknown): void {
    if (this.#isStopped) return;
    this.#health.change('down', error instanceof Error ? error.message : String(error));
    const ceilingMs = Math.min(firstRetryMs * 2 ** Math.min(this.#tries, 10), longestRetryMs);
    this.#tries += 1;
    this.#timer = setTimeout(() => void this.#connect(), ceilingMs * (0.5 + Math.random() / 2));
  }
}
