import type { AuditRow, WebhookLogRow } from '@hqrelay/db/queries/append-audit';

const writeAfterMs = 1_000;
const rowsMax = 10_000;

/**
 * Counts the requests past the wider window of their project: one row for each project and status stands for all of a second.
 * The table is append-only, so the row is written when its second ends, with the facts of the first request.
 */
export class ThinnedRows {
  readonly #recordLater: (row: AuditRow) => void;
  #rows = new Map<string, WebhookLogRow & { requestCount: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(recordLater: (row: AuditRow) => void) {
    this.#recordLater = recordLater;
  }

  add(row: WebhookLogRow): void {
    const key = `${row.projectId} ${row.status}`;
    const counted = this.#rows.get(key);
    if (counted) {
      counted.requestCount += 1;
      return;
    }
    this.#rows.set(key, { ...row, requestCount: 1 });
    this.#timer ??= setTimeout(() => this.flush(), writeAfterMs);
    if (this.#rows.size === rowsMax) this.flush();
  }

  /** Writes the rows whose second has not ended. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#rows;
    this.#rows = new Map();
    for (const log of rows.values()) this.#recordLater({ kind: 'webhook', log, payload: null });
  }
}
