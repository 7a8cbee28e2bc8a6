import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type Channel, type ChannelModel, type GetMessage } from 'amqplib';
import { assertTopology, sizedWorkQueues } from './topology.ts';
import { corkWrites } from './cork-writes.ts';

/** Something that lives on a channel: a publisher, a consumer. */
export type ChannelUser = {
  readonly name: string;
  /** Called on every new connection, and again when its channel alone has died. */
  open(model: ChannelModel): Promise<Channel>;
  /** Called when the channel is gone, whatever the cause. */
  lost(): void;
  /** Called before the connection is let go of on purpose. */
  close?(): Promise<void>;
};

export type BrokerConnectionOptions = {
  /** Tried in turn. */
  urls: readonly string[];
  /** Shown in the broker's own list of connections. */
  name: string;
  onChange: OnHealthChange;
};

const handshakeTimeoutMs = 5_000;
const setUpTimeoutMs = 15_000;
/** What a user has not said by then is lost: thousands of acknowledgements may be among it. */
const lastWordsTimeoutMs = 6_000;
const heartbeatSeconds = 5;
const firstRetryMs = 100;
/**
 * A broker (3.10) that dies within about a second of declaring a quorum queue never finds that queue's log again, and what
 * it had confirmed is gone (rabbitmq-server#15725). So nothing is published to queues that are younger than this.
 */
const newTopologyRestsMs = 2_000;
const longestRetryMs = 2_000;

/**
 * A connection that comes back: it connects for as long as it takes, asserts the topology each time, and opens its users'
 * channels again, also when one channel alone has died. amqplib's own recovery is not used: it restores neither channels
 * nor consumers, and a connection that breaks during set-up can end the process or hang it.
 */
export class BrokerConnection {
  readonly #options: BrokerConnectionOptions;
  readonly #users: ChannelUser[] = [];
  readonly #channels = new Set<Channel>();
  readonly #health: HealthTracker;
  #model: ChannelModel | undefined;
  #stopped = false;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BrokerConnectionOptions) {
    this.#options = options;
    this.#health = new HealthTracker(options.onChange);
  }

  get health(): StoreHealth {
    return this.#health;
  }

  use(user: ChannelUser): void {
    this.#users.push(user);
  }

  /** Begins to connect and returns at once: the broker may come up later. */
  start(): void {
    void this.#connect();
  }

  /** Lets go of the connection; what was unconfirmed or unacknowledged stays with the broker. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const model = this.#model;
    this.#model = undefined;
    if (!model) return;
    // One after another: amqplib may send the end of the connection before what a channel has still to say.
    await within(lastWordsTimeoutMs, Promise.all(this.#users.map(async (user) => user.close?.()))).catch(
      () => {},
    );
    await within(2_000, Promise.all([...this.#channels].map((channel) => channel.close()))).catch(() => {});
    await within(2_000, model.close()).catch(() => destroy(model));
  }

  /** Messages ready in each queue. Throws when the broker does not answer within 2 s. */
  async queueDepths(queues: readonly string[]): Promise<Map<string, number>> {
    const model = this.#model;
    if (!model) throw new Error('not connected');
    const channel = await within(2_000, model.createChannel());
    channel.on('error', () => {});
    try {
      const depths = new Map<string, number>();
      for (const queue of queues) {
        depths.set(queue, (await within(2_000, channel.checkQueue(queue))).messageCount);
      }
      return depths;
    } finally {
      channel.close().catch(() => {});
    }
  }

  /**
   * Takes the messages of a queue one by one, each acknowledged when `handle` is done with it, until the queue is empty.
   * What `handle` throws ends it, and that message stays in the queue. Returns how many were taken.
   */
  async pull(queue: string, handle: (content: Buffer) => Promise<void>): Promise<number> {
    return this.pullBatches(queue, { messagesMax: 1, bytesMax: 1 }, async (contents) => {
      for (const content of contents) await handle(content);
      return contents.map(() => true);
    });
  }

  /**
   * Takes the messages of a queue in batches, of which the last message may go over `bytesMax`, until the queue is empty or
   * `stopping` is aborted, and acknowledges those that `handle` answers true for. The others go back to the queue at the end,
   * and so does a batch for which it throws, which ends it. Returns how many were acknowledged.
   */
  async pullBatches(
    queue: string,
    limits: { messagesMax: number; bytesMax: number; stopping?: AbortSignal | undefined },
    handle: (contents: readonly Buffer[]) => Promise<readonly boolean[]>,
  ): Promise<number> {
    const model = this.#model;
    if (!model) throw new Error('not connected');
    const channel = await within(2_000, model.createChannel());
    channel.on('error', () => {});
    try {
      for (let taken = 0; ;) {
        const messages = limits.stopping?.aborted ? [] : await getBatch(channel, queue, limits);
        if (messages.length === 0) return taken;
        const done = await handle(messages.map(({ content }) => content));
        for (const message of messages.filter((_, index) => done[index])) {
          channel.ack(message);
          taken += 1;
        }
      }
    } finally {
      // Never answered when the connection breaks meanwhile.
      await within(2_000, channel.close()).catch(() => {});
    }
  }

  async #connect(): Promise<void> {
    const url = this.#options.urls[this.#tries % this.#options.urls.length] as string;
    let model: ChannelModel | undefined;
    try {
      model = await connect(withHeartbeat(url), {
        noDelay: true,
        keepAlive: true,
        timeout: handshakeTimeoutMs,
        writableHighWaterMark: 1 << 20,
        clientProperties: { connection_name: this.#options.name },
      } as Parameters<typeof connect>[1]);
      const opened = model;
      let closed: Error | undefined;
      // First of all listeners: an 'error' without one ends the process, and a close during set-up must not go unseen.
      model.on('error', (error: Error) => (closed = error));
      model.once('close', (error?: Error) => {
        closed ??= error ?? new Error('closed by the broker');
        this.#lost(opened, closed);
      });
      model.on(
        'blocked',
        (reason: string) => this.#model === opened && this.#health.change('blocked', reason),
      );
      model.on('unblocked', () => this.#model === opened && this.#health.change('up'));
      corkWrites(model);
      await within(
        setUpTimeoutMs,
        this.#setUp(model, () => closed),
      );
      if (this.#stopped) return destroy(model);
      this.#model = model;
      this.#tries = 0;
      this.#health.change('up');
    } catch (error) {
      if (model) destroy(model);
      this.#retry(error);
    }
  }

  async #setUp(model: ChannelModel, closed: () => Error | undefined): Promise<void> {
    const isNew = await lacksQueues(model);
    const channel = await model.createChannel();
    channel.on('error', () => {});
    await assertTopology(channel);
    await channel.close();
    if (isNew) await wait(newTopologyRestsMs);
    await Promise.all(this.#users.map((user) => this.#openChannel(user, model)));
    const error = closed();
    if (error) throw error;
  }

  async #openChannel(user: ChannelUser, model: ChannelModel): Promise<void> {
    const channel = await user.open(model);
    this.#channels.add(channel);
    channel.on('error', (error: Error) => this.#health.change(this.#health.state, error.message));
    channel.once('close', () => {
      this.#channels.delete(channel);
      user.lost();
      if (this.#stopped) return;
      // The connection's own end closes its channels too; only a channel that died alone is opened again here. One that
      // dies while others are still being opened takes the connection with it.
      if (this.#model === model) this.#reopen(user, model);
      else destroy(model);
    });
  }

  #reopen(user: ChannelUser, model: ChannelModel): void {
    setTimeout(() => {
      if (this.#model !== model || this.#stopped) return;
      within(setUpTimeoutMs, this.#openChannel(user, model)).catch(() => destroy(model));
    }, firstRetryMs);
  }

  #lost(model: ChannelModel, reason: Error): void {
    if (this.#model !== model) return;
    this.#model = undefined;
    this.#retry(reason);
  }

  #retry(error: unknown): void {
    if (this.#stopped) return;
    this.#health.change('down', error instanceof Error ? error.message : String(error));
    const ceilingMs = Math.min(firstRetryMs * 2 ** Math.min(this.#tries, 10), longestRetryMs);
    this.#tries += 1;
    this.#timer = setTimeout(() => void this.#connect(), ceilingMs * (0.5 + Math.random() / 2));
  }
}

async function getBatch(
  channel: Channel,
  queue: string,
  { messagesMax, bytesMax }: { messagesMax: number; bytesMax: number },
): Promise<GetMessage[]> {
  const messages: GetMessage[] = [];
  for (let bytes = 0; messages.length < messagesMax && bytes < bytesMax;) {
    const message = await within(5_000, channel.get(queue));
    if (!message) break;
    messages.push(message);
    bytes += message.content.length;
  }
  return messages;
}

/** The broker's own default would notice a dead peer after two minutes. */
function withHeartbeat(text: string): string {
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.href;
}

async function lacksQueues(model: ChannelModel): Promise<boolean> {
  const channel = await model.createChannel();
  // A queue that is not there closes the channel it was asked on.
  channel.on('error', () => {});
  try {
    for (const queue of sizedWorkQueues) await channel.checkQueue(queue);
    await channel.close();
    return false;
  } catch {
    return true;
  }
}

function destroy(model: ChannelModel): void {
  const { stream } = (model as unknown as { connection: { stream?: { destroy(error: Error): void } } })
    .connection;
  // With an error: without one amqplib does not notice.
  if (stream) stream.destroy(new Error('given up'));
  else model.close().catch(() => {});
}

function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return withTimeout(work, timeoutMs, `the broker did not answer within ${timeoutMs} ms`);
}
