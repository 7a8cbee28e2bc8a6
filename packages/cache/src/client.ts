import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import type { Redis } from 'ioredis';
import { connectRedis } from './connect-redis.ts';
import { probe } from './probe.ts';
import { readOrigin } from './redis-origin.ts';

export type CacheOptions = {
  url: string;
  /** Shown in Redis's own list of clients. */
  name: string;
  onChange: OnHealthChange;
  /** How long a command waits for Redis, ms; 100 when absent. */
  answerWithinMs?: number;
  /** Called when Redis answers a command with an error although it serves otherwise: once a minute for each kind. */
  onRefused?: (error: Error) => void;
};

/** A request waits no longer than this for Redis, and then continues without it. */
const defaultAnswerWithinMs = 100;
/** For commands that do not use `tryCommand`. */
const commandTimeoutMs = 1_000;
const probeAgainAfterMs = 500;
const reportAgainAfterMs = 60_000;

/**
 * A Redis that may be unavailable: `tryCommand` returns within 100 ms either way. After a failure no command is sent until
 * a probe succeeds, so that callers do not each wait for a Redis that does not answer. A command that timed out may still
 * run later; scripts that write must allow for it.
 */
export class Cache {
  readonly redis: Redis;
  readonly #options: CacheOptions;
  readonly #health: HealthTracker;
  #connectionError: string | undefined;
  #probing: Promise<boolean> | undefined;
  #nextProbe: NodeJS.Timeout | undefined;
  #isReconnecting = false;
  #origin = '';
  /** When each kind of refusal was last reported, ms since epoch. */
  readonly #reportedAt = new Map<string, number>();

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#health = new HealthTracker(options.onChange);
    const commandTimeout = Math.max(commandTimeoutMs, options.answerWithinMs ?? 0);
    this.redis = connectRedis(options.url, options.name, { commandTimeout });
    this.redis.on('ready', () => void this.#probe());
    this.redis.on('error', (error: Error) => {
      this.#connectionError = error.message;
      // Without a sentinel that answers there is no connection whose end would be reported.
      if (this.redis.status !== 'ready') this.#health.change('down', error.message);
    });
    this.redis.on('close', () => this.#onClose());
  }

  /** Begins to connect and returns at once: Redis may come up later. */
  start(): void {
    this.redis.connect().catch(() => {
      // ioredis reconnects by itself; the 'error' event has the reason.
    });
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** See `readOrigin`; empty before the first probe, or when Redis refuses the INFO command. */
  get origin(): string {
    return this.#origin;
  }

  /**
   * A connection for subscriptions. It connects again when this client's closes: after a failover both must lead to the same
   * server. The caller disconnects it.
   */
  createSubscriber(): Redis {
    const subscriber = connectRedis(this.#options.url, `${this.#options.name}-changes`);
    this.redis.on('close', () => {
      if (subscriber.status === 'ready') subscriber.disconnect(true);
    });
    return subscriber;
  }

  /**
   * Runs a command; `undefined` when Redis is unavailable or does not answer in time. An error that Redis answers to this
   * command, while it serves others, is thrown.
   */
  async tryCommand<T>(command: (redis: Redis) => Promise<T>): Promise<{ value: T } | undefined> {
    if (!this.#health.isUp) return undefined;
    try {
      return { value: await this.#inTime(command(this.redis)) };
    } catch (error) {
      if (isReply(error)) {
        if (!(await this.#probe())) return undefined;
        this.#reportRefused(error);
        throw error;
      }
      if (this.redis.status === 'ready') {
        this.#health.change('blocked', reasonOf(error));
        this.#schedule(() => void this.#probe());
      }
      return undefined;
    }
  }

  /** Handles an error that Redis answered to a part of a command as `tryCommand` handles that of a whole command. Never rejects. */
  async handleRefusal(message: string): Promise<void> {
    if (await this.#probe()) this.#reportRefused(new Error(message));
  }

  async close(): Promise<void> {
    clearTimeout(this.#nextProbe);
    this.redis.removeAllListeners('close');
    this.redis.disconnect();
    await Promise.resolve();
  }

  /** Whether Redis serves. Commands that fail together share one probe. */
  #probe(): Promise<boolean> {
    this.#probing ??= this.#runProbe().finally(() => (this.#probing = undefined));
    return this.#probing;
  }

  async #runProbe(): Promise<boolean> {
    try {
      await this.#inTime(probe(this.redis));
      // Before any command of this connection relies on what the server remembers.
      this.#origin ||= await this.#inTime(readOrigin(this.redis)).catch(() => '');
      this.#connectionError = undefined;
      this.#health.change('up');
      return true;
    } catch (error) {
      if (this.redis.status !== 'ready') return false;
      this.#health.change('blocked', reasonOf(error));
      // A server that answers with an error may have lost its role, and a new connection may lead to the new primary.
      this.#schedule(isReply(error) ? () => this.#reconnect() : () => void this.#probe());
      return false;
    }
  }

  #schedule(next: () => void): void {
    clearTimeout(this.#nextProbe);
    this.#nextProbe = setTimeout(() => {
      if (this.redis.status === 'ready' && !this.#health.isUp) next();
    }, probeAgainAfterMs);
  }

  #reconnect(): void {
    this.#isReconnecting = true;
    this.redis.disconnect(true);
  }

  /** A connection that this client closes to reconnect leaves the store blocked, for the reason that the probe found. */
  #onClose(): void {
    this.#origin = '';
    if (!this.#isReconnecting) this.#health.change('down', this.#connectionError ?? 'the connection closed');
    this.#isReconnecting = false;
  }

  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { answerWithinMs = defaultAnswerWithinMs } = this.#options;
    return withTimeout(answer, answerWithinMs, `Redis did not answer within ${answerWithinMs} ms`);
  }

  #reportRefused(error: Error): void {
    const [kind = ''] = error.message.split(' ', 1);
    const now = Date.now();
    if (now - (this.#reportedAt.get(kind) ?? 0) < reportAgainAfterMs) return;
    this.#reportedAt.set(kind, now);
    this.#options.onRefused?.(error);
  }
}

/** Whether Redis answered with this error, rather than not at all. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
