import { HealthTracker, type OnHealthChange, type StoreHealth } from '@hqrelay/flow/store-health';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import pg from 'pg';

export type PostgresOptions = {
  url: string;
  applicationName: string;
  /** Connections in the pool. */
  max: number;
  onChange: OnHealthChange;
};

/** How long any one query may take before its connection is given up. */
const queryTimeoutMs = 5_000;
const connectTimeoutMs = 1_500;
const pingEveryMs = 1_000;

/**
 * A pool that knows whether Postgres answers, so that callers can go another way at once instead of each waiting
 * for a timeout. It holds no session state and names no statement: a transaction-mode pooler may stand between.
 */
export class Postgres {
  readonly pool: pg.Pool;
  readonly #health: HealthTracker;
  readonly #awaitingIt: (() => void)[] = [];
  #pinging: NodeJS.Timeout | undefined;

  constructor(options: PostgresOptions) {
    this.#health = new HealthTracker(options.onChange);
    this.pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      max: options.max,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    });
    // An idle connection that breaks says so here; without a listener it would end the process.
    this.pool.on('error', (error) => this.markDown(error));
  }

  /** Begins to ask every second whether Postgres answers and its schema is there. Resolves after the first answer. */
  async start(): Promise<void> {
    await this.#ping();
    const again = () => {
      this.#pinging = setTimeout(
        () => void this.#ping().finally(() => this.#pinging && again()),
        pingEveryMs,
      );
    };
    again();
  }

  get health(): StoreHealth {
    return this.#health;
  }

  /** For callers that saw a connection fail: everybody goes the other way until a ping succeeds. */
  markDown(error: unknown): void {
    this.#health.change('down', error instanceof Error ? error.message || error.name : String(error));
  }

  /**
   * Runs queries that must not make anybody wait: undefined when Postgres is down, breaks, or has not answered in time; the
   * query may have run all the same. Errors of the statement itself are thrown.
   */
  async tryWithin<T>(
    timeoutMs: number,
    query: (pool: pg.Pool) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    if (this.#health.state === 'down') return undefined;
    try {
      const work = query(this.pool);
      return { value: await withTimeout(work, timeoutMs, `Postgres did not answer within ${timeoutMs} ms`) };
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      this.markDown(error);
      return undefined;
    }
  }

  /**
   * Waits for a Postgres that has just gone: whether it is there before it has been away for `patienceMs`. Many a stall is over
   * by then; in an outage nobody waits.
   */
  async isBackWithin(patienceMs: number): Promise<boolean> {
    if (this.#health.state !== 'down') return true;
    const leftMs = this.#health.since + patienceMs - Date.now();
    if (leftMs <= 0) return false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftMs);
      this.#awaitingIt.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    return this.#health.isUp;
  }

  async close(): Promise<void> {
    clearTimeout(this.#pinging);
    this.#pinging = undefined;
    await this.pool.end();
  }

  async #ping(): Promise<void> {
    try {
      await this.pool.query({
        text: 'select 1 from webhook_logs limit 0',
        query_timeout: 2_000,
      } as pg.QueryConfig);
      this.#health.change('up');
      for (const tell of this.#awaitingIt.splice(0)) tell();
    } catch (error) {
      const missing = error instanceof pg.DatabaseError && error.code === '42P01';
      this.markDown(missing ? new Error('the schema is missing: run npm run migrate') : error);
    }
  }
}

/**
 * True when the error is about the rows of a statement: data that does not fit, a constraint, a limit, or a trigger that says
 * no; or about a row that no statement can be made of, whose id has no time. Not a schema or privileges that are missing.
 */
export function isAboutRows(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof pg.DatabaseError && /^(22|23|54|P0)/.test(error.code ?? '');
}

/** True when the error is about reaching Postgres, or Postgres being unable, rather than about one statement. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof RangeError || error instanceof TypeError) return false;
  if (!(error instanceof pg.DatabaseError)) return true;
  // 08 connection, 53 resources (disk full, too many connections), 57 operator intervention, 58 system error, 25006 read-only
  return /^(08|53|57|58)/.test(error.code ?? '') || error.code === '25006' || error.code === '55P03';
}
