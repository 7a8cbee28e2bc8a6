import { setTimeout as wait } from 'node:timers/promises';
import type { AuditRow } from '@hqrelay/db/queries/append-audit';
import { bytesOf } from './row-bytes.ts';

export type NotesOptions = {
  /** Whether a store has taken the row. */
  record: (row: AuditRow) => Promise<boolean>;
  /** Told of rows that were more than memory may hold, or that no store took before the end. */
  onLost: (rows: number) => void;
};

const rowsMax = 10_000;
const bytesMax = 32 << 20;
const rowsAtOnce = 50;
const bytesAtOnce = 1 << 20;
const retryAfterMs = 1_000;

/**
 * Rows that nobody waits for: kept in memory, bounded, until a store takes them. A few at a time, so that after an outage rows
 * that somebody waits for do not stand in line behind all that was noted meanwhile.
 */
export class Notes {
  readonly #options: NotesOptions;
  #rows: AuditRow[] = [];
  #bytes = 0;
  #lost = 0;
  #writing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: NotesOptions) {
    this.#options = options;
  }

  add(row: AuditRow): void {
    const bytes = bytesOf(row);
    if (this.#rows.length >= rowsMax || this.#bytes + bytes > bytesMax) {
      this.#lost += 1;
      return;
    }
    this.#rows.push(row);
    this.#bytes += bytes;
    this.#writing ??= this.#write();
  }

  /** Tries once more; what no store takes now is lost. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#rows.length > 0) {
      const some = this.#take();
      const taken = await Promise.all(some.map((row) => this.#options.record(row)));
      // To the end: one that no store takes by itself is in nobody's way.
      for (const [index, row] of some.entries()) if (!taken[index]) this.#keep(row);
      if (taken.includes(true)) continue;
      if (this.#closing.signal.aborted) this.#giveUp();
      else await wait(retryAfterMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      this.#tellLost();
    }
    this.#writing = undefined;
    this.#tellLost();
  }

  #take(): AuditRow[] {
    let bytes = 0;
    let count = 0;
    for (const row of this.#rows.slice(0, rowsAtOnce)) {
      if (count > 0 && bytes + bytesOf(row) > bytesAtOnce) break;
      bytes += bytesOf(row);
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#rows.splice(0, count);
  }

  #keep(row: AuditRow): void {
    this.#rows.push(row);
    this.#bytes += bytesOf(row);
  }

  #giveUp(): void {
    this.#lost += this.#rows.length;
    this.#rows = [];
    this.#bytes = 0;
  }

  #tellLost(): void {
    if (this.#lost > 0) this.#options.onLost(this.#lost);
    this.#lost = 0;
  }
}
