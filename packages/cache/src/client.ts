import { Circuit } from '@hqrelay/flow/circuit';
import { Redis } from 'ioredis';

export type CacheState = 'starting' | 'up' | 'down';

export type CacheOptions = {
  url: string;
  name: string;
  onChange: (state: CacheState, reason?: string) => void;
};

/** Redis answers within this or is gone without: nothing here is worth making a provider wait. */
const answerWithinMs = 100;
/** For commands that are not asked through `tryCommand`. */
const commandTimeoutMs = 1_000;
const askAgainAfterMs = 500;

/**
 * Redis as something that may be away: `tryCommand` answers within 100 ms either way, and while Redis does not answer,
 * callers do not each wait for that. A command that timed out may still run later; whoever writes must allow for it.
 */
export class Cache {
  readonly redis: Redis;
  readonly #options: CacheOptions;
  readonly #circuit = new Circuit({ firstOpenMs: 500, longestOpenMs: 1_000, trialMs: 500 });
  #state: CacheState = 'starting';
  #detail: string | undefined;
  #askingAgain: NodeJS.Timeout | undefined;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.redis = connectRedis(options.url, options.name, { commandTimeout: commandTimeoutMs });
    this.redis.on('ready', () => {
      this.#circuit.succeeded();
      this.#change('up');
    });
    this.redis.on('error', (error: Error) => (this.#detail = error.message));
    this.redis.on('close', () => this.#change('down', this.#detail ?? 'the connection closed'));
  }

  start(): void {
    // Its 'error' and 'close' events have said why, and it tries again by itself.
    this.redis.connect().catch(() => this.#change('down', this.#detail));
  }

  get state(): CacheState {
    return this.#state;
  }

  get detail(): string | undefined {
    return this.#detail;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** Whether there is a connection, however slowly it answers just now. */
  get isConnected(): boolean {
    return this.redis.status === 'ready';
  }

  /** Runs a command; `undefined` when Redis is away or did not answer in time. Errors of the command itself are thrown. */
  async tryCommand<T>(command: (redis: Redis) => Promise<T>): Promise<{ value: T } | undefined> {
    if (this.redis.status !== 'ready' || !this.#circuit.allows(Date.now())) return undefined;
    try {
      const value = await inTime(command(this.redis));
      if (this.#circuit.isOpen) {
        this.#circuit.succeeded();
        this.#change('up');
      }
      return { value };
    } catch (error) {
      if (isReply(error)) throw error;
      this.#circuit.failed(Date.now());
      this.#change('down', error instanceof Error ? error.message : String(error));
      this.#askAgain();
      return undefined;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#askingAgain);
    this.redis.removeAllListeners('close');
    this.redis.disconnect();
    await Promise.resolve();
  }

  /** A connection that stood still says nothing when it moves again: it is asked, also when no webhook comes. */
  #askAgain(): void {
    clearTimeout(this.#askingAgain);
    this.#askingAgain = setTimeout(() => {
      if (this.redis.status !== 'ready' || !this.#circuit.isOpen) return;
      void this.tryCommand((redis) => redis.ping()).then((answer) => answer ?? this.#askAgain());
    }, askAgainAfterMs);
  }

  #change(state: CacheState, reason?: string): void {
    this.#detail = reason;
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onChange(state, reason);
  }
}

/** A client that never queues what it cannot send, and comes back by itself. */
export function connectRedis(
  url: string,
  name: string,
  options: { commandTimeout?: number; enableReadyCheck?: boolean } = {},
): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    connectTimeout: 1_000,
    socketTimeout: 5_000,
    keepAlive: 5_000,
    retryStrategy: (times: number) =>
      Math.min(50 * 2 ** Math.min(times, 5), 1_000) * (0.5 + Math.random() / 2),
    ...options,
  });
  redis.on('error', () => {});
  return redis;
}

/**
 * Rejects when there is no answer in time. After a turn of the event loop that took long, timers come before what has
 * arrived meanwhile; so an answer that is there already is read first, and our own slowness does not pass for Redis's.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${answerWithinMs} ms`));
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), answerWithinMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
  }
}

/** At the start; before Redis 7 an error of a command inside a script stands behind the script's own. */
const notAnAnswer =
  /(^|: -?)(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|OOM|MISCONF|UNKILLABLE|BUSY|TRYAGAIN)\b/;

/** An error that Redis itself answered, as against not answering. LOADING, READONLY and the like are not answers. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && !notAnAnswer.test(error.message);
}
