import type { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { Publisher } from '@hqrelay/queue/publishing/publisher';
import { auditQueue, smallMessageBytesMax } from '@hqrelay/queue/topology';
import { Batcher } from '@hqrelay/flow/batcher';
import { Circuit } from '@hqrelay/flow/circuit';
import { BackgroundRows } from './background-rows.ts';
import { parkRow } from './park-row.ts';
import { bytesOf } from './row-bytes.ts';
import { encodeSpill } from './spill-format.ts';
import { storeRows, type StoreOutcome } from './store-rows.ts';

export type RecordOutcome =
  /** Committed in Postgres. */
  | 'stored'
  /** Another worker made the same attempt and recorded it first: Postgres has that worker's row. */
  | 'overtaken'
  /** Confirmed by the broker, in `hqrelay.audit`; a worker writes it to Postgres later. */
  | 'spilled'
  /** Neither store took it. */
  | 'unavailable';

export type AuditRecorderOptions = {
  postgres: Postgres;
  publisher: Publisher;
  onSpilled: (rows: number) => void;
  onParked: (row: AuditRow, reason: string) => void;
  /** Called with the number of background rows that were dropped. */
  onBackgroundRowsLost: (rows: number) => void;
};

const rowsPerBatch = 200;
const bytesPerBatch = 1 << 20;
const bytesWaitingMax = 64 << 20;
const batchesAtOnce = 2;
/** How long a commit may take before its rows are spilled. */
const commitTimeoutMs = 600;

/**
 * Writes audit rows for both apps, in batches that grow with the load; a lone row never waits. Rows that Postgres does not
 * take are spilled: published, with a confirm, to the queue `hqrelay.audit`. Memory for waiting rows is bounded; beyond the
 * bound a row is `unavailable` at once.
 */
export class AuditRecorder {
  readonly #options: AuditRecorderOptions;
  readonly #rows: Batcher<AuditRow, RecordOutcome>;
  /** Apart, so that small rows do not wait for the commits of large ones. */
  readonly #large: Batcher<AuditRow, RecordOutcome>;
  /** Apart, because a batch waits for another receiver's commit where both have the same ordering key. */
  readonly #ordered: Batcher<AuditRow, RecordOutcome>;
  readonly #background: BackgroundRows;
  /**
   * Open while the tables are locked although Postgres is up: rows are spilled at once, except for one trial at a time. The
   * first trial comes after a ping has judged Postgres: while Postgres is down a trial would only delay its requests.
   */
  readonly #tables = new Circuit({ firstOpenMs: 2_000, longestOpenMs: 2_000, trialMs: 5_000 });

  constructor(options: AuditRecorderOptions) {
    this.#options = options;
    this.#rows = this.#createBatcher(batchesAtOnce);
    this.#large = this.#createBatcher(batchesAtOnce);
    this.#ordered = this.#createBatcher(1);
    this.#background = new BackgroundRows({
      record: async (row) => (await this.record(row)) !== 'unavailable',
      onLost: options.onBackgroundRowsLost,
    });
  }

  /** Resolves when the row is durable, or when neither store took it. Never rejects. */
  record(row: AuditRow): Promise<RecordOutcome> {
    return this.#batcherOf(row).add(row).then(orUnavailable);
  }

  /** Writes a row in the background: it stays in memory, within a bound, until a store takes it. */
  recordLater(row: AuditRow): void {
    this.#background.add(row);
  }

  /** Resolves when no row waits for a store. Background rows that no store takes now are dropped. */
  async close(): Promise<void> {
    await this.#background.close();
    await Promise.all([this.#rows.idle(), this.#large.idle(), this.#ordered.idle()]);
  }

  #batcherOf(row: AuditRow): Batcher<AuditRow, RecordOutcome> {
    if (row.kind === 'webhook' && row.ordering) return this.#ordered;
    return bytesOf(row) > smallMessageBytesMax ? this.#large : this.#rows;
  }

  #createBatcher(atOnce: number): Batcher<AuditRow, RecordOutcome> {
    return new Batcher({
      itemsMax: rowsPerBatch,
      bytesMax: bytesPerBatch,
      batchesAtOnce: atOnce,
      bytesWaitingMax,
      bytesOf,
      run: async (rows) => (await this.#store(rows)) ?? this.#spill(rows),
    });
  }

  /** Undefined when Postgres did not answer in time. It may still have committed: a row written twice stays one row. */
  async #store(rows: readonly AuditRow[]): Promise<RecordOutcome[] | undefined> {
    const { postgres } = this.#options;
    if (!postgres.health.isUp || !this.#tables.allows(performance.now())) return undefined;
    // `storeRows` rejects when the schema or a privilege is missing: the rows are spilled, and the worker that drains them logs
    // the error.
    const stored = await postgres
      .tryWithin(commitTimeoutMs, (pool) => storeRows(pool, rows))
      .catch(() => undefined);
    if (stored) this.#tables.succeeded();
    else this.#tables.failed(performance.now());
    if (!stored) return undefined;
    const outcomes: RecordOutcome[] = [];
    for (const outcome of stored.value)
      outcomes.push(outcome.kind === 'unstorable' ? await this.#park(outcome) : outcome.kind);
    return outcomes;
  }

  async #park({ row, reason }: Extract<StoreOutcome, { kind: 'unstorable' }>): Promise<RecordOutcome> {
    const parked = await parkRow(this.#options.publisher, row, reason);
    if (parked) this.#options.onParked(row, reason);
    return parked ? 'spilled' : 'unavailable';
  }

  async #spill(rows: readonly AuditRow[]): Promise<RecordOutcome[]> {
    const spillable = rows.filter(isSpillable);
    if (spillable.length === 0) return rows.map(() => 'unavailable');
    const body = encodeSpill(spillable);
    const result = await this.#options.publisher.publish({ exchange: '', routingKey: auditQueue, body });
    if (result.kind !== 'confirmed') return rows.map(() => 'unavailable');
    this.#options.onSpilled(spillable.length);
    return rows.map((row) => (isSpillable(row) ? 'spilled' : 'unavailable'));
  }
}

/** The batcher refuses a row when too many bytes wait. */
function orUnavailable(outcome: RecordOutcome | undefined): RecordOutcome {
  return outcome ?? 'unavailable';
}

/** A row with an outbox message exists because the broker did not take that message, so the broker cannot take the row. */
function isSpillable(row: AuditRow): boolean {
  return row.kind === 'attempt' || row.outbox === undefined;
}
