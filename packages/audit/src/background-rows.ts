import { setTimeout as wait } from 'node:timers/promises';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { bytesOf } from './row-bytes.ts';

export type BackgroundRowsOptions = {
  /** Whether a store has taken the row. */
  record: (row: AuditRow) => Promise<boolean>;
  /** Called with the number of rows beyond the bound of memory, or that no store took before `close`. */
  onLost: (rows: number) => void;
};

const rowsMax = 10_000;
const bytesMax = 32 << 20;
const rowsAtOnce = 50;
const bytesAtOnce = 1 << 20;
const retryAfterMs = 1_000;

/**
 * Audit rows that no request waits for. Each is tried at once; a row that no store takes is kept in memory, within a bound, and
 * retried in small batches, so that after an outage the backlog does not delay rows that a request waits for.
 */
export class BackgroundRows {
  readonly #options: BackgroundRowsOptions;
  /** First tries in flight. */
  readonly #fresh = new Set<Promise<void>>();
  #kept: AuditRow[] = [];
  #bytes = 0;
  #lost = 0;
  #retrying: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: BackgroundRowsOptions) {
    this.#options = options;
  }

  add(row: AuditRow): void {
    const trying = this.#options.record(row).then((taken) => {
      this.#fresh.delete(trying);
      if (!taken) this.#keep(row);
    });
    this.#fresh.add(trying);
  }

  /** Retries the kept rows once more, and drops those that no store takes. */
  async close(): Promise<void> {
    await Promise.all(this.#fresh);
    this.#closing.abort();
    await this.#retrying;
  }

  #keep(row: AuditRow): void {
    const bytes = bytesOf(row);
    if (this.#kept.length >= rowsMax || this.#bytes + bytes > bytesMax) {
      this.#lost += 1;
      return;
    }
    this.#kept.push(row);
    this.#bytes += bytes;
    this.#retrying ??= this.#retry();
  }

  async #retry(): Promise<void> {
    while (this.#kept.length > 0) {
      await wait(retryAfterMs, undefined, { signal: this.#closing.signal }).catch(() => {
        // Closing: the last try follows at once.
      });
      while (this.#kept.length > 0 && (await this.#retryBatch())) {
        // Until a whole batch fails.
      }
      if (this.#closing.signal.aborted) this.#dropKept();
      if (this.#lost > 0) this.#options.onLost(this.#lost);
      this.#lost = 0;
    }
    this.#retrying = undefined;
  }

  /** Whether a store took at least one row. */
  async #retryBatch(): Promise<boolean> {
    const batch = this.#take();
    const taken = await Promise.all(batch.map((row) => this.#options.record(row)));
    // At the end of the backlog, a row that no store takes does not block the others.
    for (const [index, row] of batch.entries()) if (!taken[index]) this.#keep(row);
    return taken.includes(true);
  }

  #take(): AuditRow[] {
    let bytes = 0;
    let count = 0;
    for (const row of this.#kept.slice(0, rowsAtOnce)) {
      if (count > 0 && bytes + bytesOf(row) > bytesAtOnce) break;
      bytes += bytesOf(row);
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#kept.splice(0, count);
  }

  #dropKept(): void {
    this.#lost += this.#kept.length;
    this.#kept = [];
    this.#bytes = 0;
  }
}
