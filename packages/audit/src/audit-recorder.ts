import type { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { Publisher } from '@hqrelay/queue/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { Batcher } from '@hqrelay/flow/batcher';
import { Notes } from './notes.ts';
import { parkRow } from './park-row.ts';
import { bytesOf } from './row-bytes.ts';
import { encodeSpill } from './spill-format.ts';
import { storeRows } from './store-rows.ts';

export type RecordOutcome =
  /** Committed in Postgres. */
  | 'stored'
  /** An attempt that somebody else made too and recorded first: Postgres has that row. */
  | 'overtaken'
  /** Confirmed by the broker; written to Postgres when it is back. */
  | 'spilled'
  /** Neither store has it. */
  | 'unavailable';

export type AuditRecorderOptions = {
  postgres: Postgres;
  publisher: Publisher;
  onSpilled: (rows: number) => void;
  onParked: (row: AuditRow, reason: string) => void;
  /** Told of notes that were given up. */
  onNotesLost: (rows: number) => void;
};

const rowsPerBatch = 200;
const bytesPerBatch = 4 << 20;
const bytesWaitingMax = 64 << 20;
const batchesAtOnce = 2;
/** How long a commit may take before its rows go the other way. */
const commitTimeoutMs = 600;

/**
 * Writes audit rows for both apps. Rows that come while others are being committed go together in the next statement, so
 * that a batch grows with the load and a lone row never waits. What Postgres does not take goes, confirmed, to the queue
 * `hqrelay.audit`. What waits in memory is bounded; past that a row is `unavailable` at once.
 */
export class AuditRecorder {
  readonly #options: AuditRecorderOptions;
  readonly #rows: Batcher<AuditRow, RecordOutcome>;
  readonly #notes: Notes;

  constructor(options: AuditRecorderOptions) {
    this.#options = options;
    this.#rows = new Batcher({
      itemsMax: rowsPerBatch,
      bytesMax: bytesPerBatch,
      batchesAtOnce,
      bytesWaitingMax,
      bytesOf,
      run: async (rows) => (await this.#store(rows)) ?? this.#spill(rows),
    });
    this.#notes = new Notes({
      record: async (row) => (await this.record(row)) !== 'unavailable',
      onLost: options.onNotesLost,
    });
  }

  /** Resolves when the row is durable, or when nothing could take it. Never rejects. */
  async record(row: AuditRow): Promise<RecordOutcome> {
    return (await this.#rows.add(row)) ?? 'unavailable';
  }

  /** Writes a row that nobody waits for: kept in memory, bounded, until a store takes it. */
  note(row: AuditRow): void {
    this.#notes.add(row);
  }

  /** Resolves when nothing waits for a store any more; notes that no store takes now are given up. */
  async close(): Promise<void> {
    await this.#notes.close();
    await this.#rows.idle();
  }

  /** Undefined when Postgres did not take the batch in time. It may have it all the same: written twice, a row stays one. */
  async #store(rows: readonly AuditRow[]): Promise<RecordOutcome[] | undefined> {
    const { postgres } = this.#options;
    if (!postgres.isUp) return undefined;
    // A schema that is not ours (yet) is told of by whoever drains what is spilled.
    const stored = await postgres
      .tryWithin(commitTimeoutMs, (pool) => storeRows(pool, rows))
      .catch(() => undefined);
    return stored && Promise.all(stored.value.map((outcome) => this.#settled(outcome)));
  }

  async #settled(outcome: Awaited<ReturnType<typeof storeRows>>[number]): Promise<RecordOutcome> {
    if (outcome.kind !== 'unstorable') return outcome.kind;
    const { row, reason } = outcome;
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

/** A row of the outbox is there because the broker could not take its message. */
function isSpillable(row: AuditRow): boolean {
  return row.kind === 'attempt' || row.outbox === undefined;
}
