import { Circuit } from '@hqrelay/flow/circuit';
import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import { Redis } from 'ioredis';

export type CacheOptions = {
  url: string;
  /** Shown in Redis's own list of clients. */
  name: string;
  onChange: OnHealthChange;
};

/** A provider waits no longer than this for Redis; the request continues without it. */
const answerWithinMs = 100;
/** For commands that do not go through `tryCommand`. */
const commandTimeoutMs = 1_000;
const pingAgainAfterMs = 500;

/**
 * A Redis that may be unavailable: `tryCommand` returns within 100 ms either way, and a circuit keeps callers from each
 * waiting that long during an outage. A command that timed out may still run later; scripts that write must allow for it.
 */
export class Cache {
  readonly redis: Redis;
  readonly #circuit = new Circuit({ firstOpenMs: 500, longestOpenMs: 1_000, trialMs: 500 });
  readonly #health: HealthTracker;
  #connectionError: string | undefined;
  #pinging: NodeJS.Timeout | undefined;

  constructor({ url, name, onChange }: CacheOptions) {
    this.#health = new HealthTracker(onChange);
    this.redis = connectRedis(url, name, { commandTimeout: commandTimeoutMs });
    this.redis.on('ready', () => {
      this.#connectionError = undefined;
      this.#circuit.succeeded();
      this.#health.change('up');
    });
    this.redis.on('error', (error: Error) => (this.#connectionError = error.message));
    this.redis.on('close', () =>
      this.#health.change('down', this.#connectionError ?? 'the connection closed'),
    );
  }

  /** Begins to connect and returns at once: Redis may come up later. */
  start(): void {
    // ioredis connects again by itself; the 'error' event gave the reason.
    this.redis.connect().catch(() => this.#health.change('down', this.#connectionError));
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /**
   * Runs a command; `undefined` when Redis is unavailable or does not answer in time. Errors of the command itself are
   * thrown.
   */
  async tryCommand<T>(command: (redis: Redis) => Promise<T>): Promise<{ value: T } | undefined> {
    if (this.redis.status !== 'ready' || !this.#circuit.allows(Date.now())) return undefined;
    try {
      const value = await withTimeout(
        command(this.redis),
        answerWithinMs,
        `Redis did not answer within ${answerWithinMs} ms`,
      );
      if (this.#circuit.isOpen) {
        this.#circuit.succeeded();
        this.#health.change('up');
      }
      return { value };
    } catch (error) {
      if (isReply(error)) throw error;
      this.#circuit.failed(Date.now());
      const reason = error instanceof Error ? error.message : String(error);
      this.#health.change(this.redis.status === 'ready' ? 'blocked' : 'down', reason);
      this.#pingLater();
      return undefined;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#pinging);
    this.redis.removeAllListeners('close');
    this.redis.disconnect();
    await Promise.resolve();
  }

  /** A connection reports nothing when a stalled Redis resumes, so it is pinged, also while no webhook arrives. */
  #pingLater(): void {
    clearTimeout(this.#pinging);
    this.#pinging = setTimeout(() => {
      if (this.redis.status !== 'ready' || !this.#circuit.isOpen) return;
      void this.tryCommand((redis) => redis.ping()).then((answer) => answer ?? this.#pingLater());
    }, pingAgainAfterMs);
  }
}

/** A client that never queues what it cannot send, and connects again by itself. */
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

/** Before Redis 7 the error of a command inside a script stands behind the script's own. */
const storeCannotServe =
  /(^|: -?)(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS|OOM|MISCONF|UNKILLABLE|BUSY|TRYAGAIN)\b/;

/** Whether Redis answered this error about the command, rather than about its own state. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && !storeCannotServe.test(error.message);
}
