import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import pg from 'pg';
import { limitSession } from './session-limits.ts';

export type PostgresOptions = {
  url: string;
  applicationName: string;
  /** Connections in the pool. */
  max: number;
  /** Whether a server that takes no writes is as good as any. */
  isReplica?: boolean;
  onChange: OnHealthChange;
};

/** Longer than Postgres lets a statement take: it passes only when Postgres does not answer at all. */
const queryTimeoutMs = 6_000;
const connectTimeoutMs = 1_500;
const pingEveryMs = 1_000;
const pingTimeoutMs = 2_000;
/** How long a ping may take after a query was late. Requests wait for their own timeouts meanwhile. */
const doubtedPingTimeoutMs = 400;

// It takes no lock, so a ping says whether Postgres answers even while another session locks the tables.
const ping = `select to_regclass('webhook_logs') is not null as "hasSchema",
  current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/**
 * A pool with its store's health, so that callers use their fallback at once instead of each waiting for a timeout. It prepares
 * no named statement and relies on no session state, so a transaction-mode pooler may stand between.
 */
export class Postgres {
  readonly pool: pg.Pool;
  /** One more connection, so that a ping does not wait for statements that wait for a lock. */
  readonly #pings: pg.Pool;
  readonly #health: HealthTracker;
  readonly #isReplica: boolean;
  /** Callers of `isBackWithin`. */
  readonly #waiting: (() => void)[] = [];
  #nextPing: NodeJS.Timeout | undefined;
  #pinging: Promise<void> | undefined;
  #isDoubted = false;

  constructor(options: PostgresOptions) {
    this.#health = new HealthTracker(options.onChange);
    this.#isReplica = options.isReplica ?? false;
    const poolOf = (max: number) => {
      const pool = new pg.Pool({
        connectionString: options.url,
        application_name: options.applicationName,
        max,
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: queryTimeoutMs,
        idleTimeoutMillis: 30_000,
        keepAlive: true,
        // The pool waits for it, although its type does not say so.
        onConnect: (client): void => limitSession(client) as unknown as undefined,
      });
      // Without a listener an idle connection that breaks would end the process.
      pool.on('error', () => this.#doubt());
      return pool;
    };
    this.pool = poolOf(options.max);
    this.#pings = poolOf(1);
  }

  /** Pings Postgres every second. Resolves after the first answer. */
  async start(): Promise<void> {
    await this.#ping();
    const again = () => {
      this.#nextPing = setTimeout(
        () => void this.#ping().finally(() => this.#nextPing && again()),
        pingEveryMs,
      );
    };
    again();
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** Makes every caller use its fallback until a ping succeeds. */
  markDown(error: unknown): void {
    this.#health.change('down', error instanceof Error ? error.message || error.name : String(error));
  }

  /**
   * Runs queries within `timeoutMs`. Undefined when Postgres is down, ends the connection or does not answer in time; the
   * query may have run all the same. A ping then shows whether Postgres is down, or only this query waits for a lock. Errors
   * of the statement itself are thrown. With `raisesDoubt: false` a late query says nothing about Postgres.
   */
  async tryWithin<T>(
    timeoutMs: number,
    query: (pool: pg.Pool) => Promise<T>,
    { raisesDoubt = true } = {},
  ): Promise<{ value: T } | undefined> {
    if (this.#health.state === 'down') return undefined;
    try {
      const work = query(this.pool);
      return { value: await withTimeout(work, timeoutMs, `Postgres did not answer within ${timeoutMs} ms`) };
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      if (raisesDoubt) this.#doubt();
      return undefined;
    }
  }

  /**
   * Whether Postgres is up, or comes up before it has been down for `patienceMs`: most stalls are over by then. In a longer
   * outage it answers at once.
   */
  async isBackWithin(patienceMs: number): Promise<boolean> {
    if (this.#health.state !== 'down') return true;
    const leftMs = this.#health.since + patienceMs - Date.now();
    if (leftMs <= 0) return false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    return this.#health.isUp;
  }

  async close(): Promise<void> {
    clearTimeout(this.#nextPing);
    this.#nextPing = undefined;
    await Promise.all([this.pool.end(), this.#pings.end()]);
  }

  /** A query was late or a connection broke: a ping that is late as well means that Postgres is down. */
  #doubt(): void {
    if (this.#isDoubted || this.#health.state === 'down') return;
    this.#isDoubted = true;
    const tooLate = `Postgres did not answer a ping within ${doubtedPingTimeoutMs} ms`;
    withTimeout(this.#ping(), doubtedPingTimeoutMs, tooLate)
      .catch((error: unknown) => this.markDown(error))
      .finally(() => (this.#isDoubted = false));
  }

  /** Never rejects. */
  #ping(): Promise<void> {
    this.#pinging ??= this.#judge().finally(() => (this.#pinging = undefined));
    return this.#pinging;
  }

  async #judge(): Promise<void> {
    try {
      const { rows } = await this.#pings.query<{ hasSchema: boolean; isReadOnly: boolean }>({
        text: ping,
        query_timeout: pingTimeoutMs,
      } as pg.QueryConfig);
      if (!rows[0]?.hasSchema) throw new Error('the schema is missing: run npm run migrate');
      if (rows[0].isReadOnly && !this.#isReplica) throw new Error('this Postgres is read-only');
      this.#health.change('up');
      for (const wake of this.#waiting.splice(0)) wake();
    } catch (error) {
      this.markDown(error);
    }
  }
}

/**
 * True when the error is about the rows of a statement: data that does not fit, a constraint, a limit, or a trigger that
 * refuses; or about a row whose id holds no time, so that no statement can be built. Not about a missing schema or privilege.
 */
export function isAboutRows(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof pg.DatabaseError && /^(22|23|54|P0)/.test(error.code ?? '');
}

/** True when the error is about reaching Postgres, or Postgres being unable, rather than about one statement. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError) return false;
  if (!(error instanceof pg.DatabaseError)) return true;
  // 08 connection, 53 resources (disk full, too many connections), 57 operator intervention, 58 system error, 25006 read-only
  return /^(08|53|57|58)/.test(error.code ?? '') || error.code === '25006' || error.code === '55P03';
}
