export type BatcherOptions<Item, Outcome> = {
  /** Items of one batch, and their bytes; a single item may exceed `bytesMax`. */
  itemsMax: number;
  bytesMax: number;
  batchesAtOnce: number;
  /** Bytes that may wait; an item above that is refused at once. */
  bytesWaitingMax: number;
  bytesOf: (item: Item) => number;
  /** Returns outcomes in the order of the items. An error rejects every item of the batch. */
  run: (items: readonly Item[]) => Promise<readonly Outcome[]>;
};

type Waiting<Item, Outcome> = {
  item: Item;
  bytes: number;
  resolve: (outcome: Outcome | undefined) => void;
  reject: (error: unknown) => void;
};

/**
 * Runs items in batches: items that are added while a batch runs form the next one, so that batches grow with the load and
 * a single item never waits.
 */
export class Batcher<Item, Outcome> {
  readonly #options: BatcherOptions<Item, Outcome>;
  readonly #waiting: Waiting<Item, Outcome>[] = [];
  #bytesWaiting = 0;
  #batches = 0;
  readonly #idle: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Outcome>) {
    this.#options = options;
  }

  /** The item's outcome; undefined when too many bytes wait already. */
  add(item: Item): Promise<Outcome | undefined> {
    const bytes = this.#options.bytesOf(item);
    if (this.#bytesWaiting + bytes > this.#options.bytesWaitingMax) return Promise.resolve(undefined);
    this.#bytesWaiting += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, bytes, resolve, reject });
      // Items of the same turn of the event loop share a batch.
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  /** Resolves when no item waits and no batch runs. */
  async idle(): Promise<void> {
    if (this.#batches === 0 && this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    while (this.#batches < this.#options.batchesAtOnce && this.#waiting.length > 0) {
      const batch = this.#take();
      this.#batches += 1;
      void this.#run(batch).finally(() => {
        this.#batches -= 1;
        this.#next();
        if (this.#batches === 0 && this.#waiting.length === 0)
          for (const resolve of this.#idle.splice(0)) resolve();
      });
    }
  }

  #take(): Waiting<Item, Outcome>[] {
    const { itemsMax, bytesMax } = this.#options;
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count === itemsMax || (count > 0 && bytes + waiting.bytes > bytesMax)) break;
      bytes += waiting.bytes;
      count += 1;
    }
    this.#bytesWaiting -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #run(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#options.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(outcomes[index]));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
