const rowsPerBatch = 200;
const batchesAtOnce = 2;

/**
 * Rows that arrive while others are being written share the next statement.
 *
 * @template Row
 */
export class Batches {
  /**
   * @readonly
   * @type {{ row: Row; resolve: () => void; reject: (error: unknown) => void }[]}
   */
  #waiting = [];
  #writing = 0;
  /** @readonly */
  #write;

  /** @param {(rows: Row[]) => Promise<void>} write */
  constructor(write) {
    this.#write = write;
  }

  /**
   * Resolves when the row is committed.
   *
   * @param {Row} row
   * @returns {Promise<void>}
   */
  add(row) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  #next() {
    while (this.#writing < batchesAtOnce && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, rowsPerBatch);
      this.#writing += 1;
      this.#write(batch.map(({ row }) => row))
        .then(
          () => batch.forEach(({ resolve }) => resolve()),
          (/** @type {unknown} */ error) => batch.forEach(({ reject }) => reject(error)),
        )
        .finally(() => {
          this.#writing -= 1;
          this.#next();
        });
    }
  }
}
