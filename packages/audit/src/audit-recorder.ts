import type { Postgres } from '@hqrelay/db/postgres';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import type { Publisher } from '@hqrelay/queue/publisher';
import { auditQueue } from '@hqrelay/queue/topology';
import { parkRow } from './park-row.ts';
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
};

type Waiting = { row: AuditRow; bytes: number; resolve: (outcome: RecordOutcome) => void };

const rowsPerBatch = 200;
const bytesPerBatch = 4 << 20;
const bytesWaitingMax = 64 << 20;
const batchesAtOnce = 2;
const notesMax = 10_000;
const retryNotesAfterMs = 1_000;
/** How long a commit may take before its rows go the other way. */
const commitTimeoutMs = 600;

/**
 * Writes audit rows for both apps. Rows that come while others are being committed go together in the next statement, so
 * that a batch grows with the load and a lone row never waits. What Postgres does not take goes, confirmed, to the queue
 * `hqrelay.audit`. What waits in memory is bounded; past that a row is `unavailable` at once.
 */
export class AuditRecorder {
  readonly #options: AuditRecorderOptions;
  readonly #waiting: Waiting[] = [];
  #bytesWaiting = 0;
  #batches = 0;
  #idle: (() => void) | undefined;
  readonly #notes: AuditRow[] = [];
  #retryNotes: NodeJS.Timeout | undefined;

  constructor(options: AuditRecorderOptions) {
    this.#options = options;
  }

  /** Resolves when the row is durable, or when nothing could take it. Never rejects. */
  record(row: AuditRow): Promise<RecordOutcome> {
    const bytes = bytesOf(row);
    if (this.#bytesWaiting + bytes > bytesWaitingMax) return Promise.resolve('unavailable');
    this.#bytesWaiting += bytes;
    return new Promise((resolve) => {
      this.#waiting.push({ row, bytes, resolve });
      // Rows of the same turn of the event loop share a batch.
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  /** Writes a row that nobody waits for: kept in memory, bounded, until a store takes it. */
  note(row: AuditRow): void {
    void this.record(row).then((outcome) => {
      if (outcome !== 'unavailable' || this.#notes.length >= notesMax) return;
      this.#notes.push(row);
      this.#retryNotes ??= setTimeout(() => {
        this.#retryNotes = undefined;
        for (const note of this.#notes.splice(0)) this.note(note);
      }, retryNotesAfterMs);
    });
  }

  /** Resolves when nothing waits for a store any more; notes that no store takes are given up. */
  async close(): Promise<void> {
    clearTimeout(this.#retryNotes);
    if (this.#batches === 0 && this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #next(): void {
    while (this.#batches < batchesAtOnce && this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      this.#batches += 1;
      void this.#write(batch).finally(() => {
        this.#batches -= 1;
        this.#next();
        if (this.#batches === 0 && this.#waiting.length === 0) this.#idle?.();
      });
    }
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count === rowsPerBatch || (count > 0 && bytes + waiting.bytes > bytesPerBatch)) break;
      bytes += waiting.bytes;
      count += 1;
    }
    this.#bytesWaiting -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const outcomes = (await this.#store(batch)) ?? (await this.#spill(batch));
    for (const [index, waiting] of batch.entries()) waiting.resolve(outcomes[index] ?? 'unavailable');
  }

  /** Undefined when Postgres did not take the batch in time. It may have it all the same: written twice, a row stays one. */
  async #store(batch: readonly Waiting[]): Promise<RecordOutcome[] | undefined> {
    const { postgres } = this.#options;
    if (!postgres.isUp) return undefined;
    const rows = batch.map((waiting) => waiting.row);
    const stored = await postgres.attempt(commitTimeoutMs, (pool) => storeRows(pool, rows));
    return stored && Promise.all(stored.value.map((outcome) => this.#settled(outcome)));
  }

  async #settled(outcome: Awaited<ReturnType<typeof storeRows>>[number]): Promise<RecordOutcome> {
    if (outcome.kind !== 'unstorable') return outcome.kind;
    const { row, reason } = outcome;
    const parked = await parkRow(this.#options.publisher, row, reason);
    if (parked) this.#options.onParked(row, reason);
    return parked ? 'spilled' : 'unavailable';
  }

  async #spill(batch: readonly Waiting[]): Promise<RecordOutcome[]> {
    const rows = batch.map((waiting) => waiting.row).filter(isSpillable);
    if (rows.length === 0) return batch.map(() => 'unavailable');
    const body = encodeSpill(rows);
    const result = await this.#options.publisher.publish({ exchange: '', routingKey: auditQueue, body });
    if (result.kind !== 'confirmed') return batch.map(() => 'unavailable');
    this.#options.onSpilled(rows.length);
    return batch.map((waiting) => (isSpillable(waiting.row) ? 'spilled' : 'unavailable'));
  }
}

/** About as much memory as it takes; what is only text counts by its characters. */
function bytesOf(row: AuditRow): number {
  if (row.kind === 'attempt') return 512 + (row.attempt.responseBody?.length ?? 0);
  const { payload, outbox } = row;
  const headersLength = payload?.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return 512 + (payload?.payload.length ?? 0) + (headersLength ?? 0) + (outbox?.message.length ?? 0);
}

/** A row of the outbox is there because the broker could not take its message. */
function isSpillable(row: AuditRow): boolean {
  return row.kind === 'attempt' || row.outbox === undefined;
}
