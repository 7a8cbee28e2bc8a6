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
 * Rows that nobody waits for. What no store takes at first is kept in memory, bounded, and goes a few rows at a time when one
 * does, so that after an outage rows that somebody waits for do not stand in line behind all that was noted meanwhile.
 */
export class Notes {
  readonly #options: NotesOptions;
  /** Being tried for the first time. */
  readonly #fresh = new Set<Promise<void>>();
  #kept: AuditRow[] = [];
  #bytes = 0;
  #lost = 0;
  #retrying: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: NotesOptions) {
    this.#options = options;
  }

  add(row: AuditRow): void {
    const trying = this.#options.record(row).then((taken) => {
      this.#fresh.delete(trying);
      if (!taken) this.#keep(row);
    });
    this.#fresh.add(trying);
  }

  /** Tries once more; what no store takes now is lost. */
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
      await wait(retryAfterMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      while (this.#kept.length > 0 && (await this.#tookSome())) {
        // As long as it goes on.
      }
      if (this.#closing.signal.aborted) this.#giveUp();
      if (this.#lost > 0) this.#options.onLost(this.#lost);
      this.#lost = 0;
    }
    this.#retrying = undefined;
  }

  async #tookSome(): Promise<boolean> {
    const some = this.#take();
    const taken = await Promise.all(some.map((row) => this.#options.record(row)));
    // To the end: one that no store takes by itself is in nobody's way.
    for (const [index, row] of some.entries()) if (!taken[index]) this.#keep(row);
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

  #giveUp(): void {
    this.#lost += this.#kept.length;
    this.#kept = [];
    this.#bytes = 0;
  }
}
