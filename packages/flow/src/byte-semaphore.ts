/** Bounds the bytes of the work that runs at once. Work that does not fit waits, in the order it came. */
export class ByteSemaphore {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting = new Set<{ bytes: number; enter: () => void }>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Runs `work` when its bytes fit, or alone when they exceed the bound. */
  run<T>(bytes: number, work: () => Promise<T>): Promise<T>;
  /** Undefined, without running `work`, when `giveUp` aborts while it waits. */
  run<T>(bytes: number, work: () => Promise<T>, giveUp: AbortSignal): Promise<T | undefined>;
  async run<T>(bytes: number, work: () => Promise<T>, giveUp?: AbortSignal): Promise<T | undefined> {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) {
      if (!(await this.#wait(bytes, giveUp))) return undefined;
    } else {
      this.#bytes += bytes;
    }
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
      this.#admitWaiting();
    }
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  /** True once the bytes are counted as admitted, false when the caller gave up first. */
  #wait(bytes: number, giveUp: AbortSignal | undefined): Promise<boolean> {
    if (giveUp?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiting = { bytes, enter: () => resolve(true) };
      this.#waiting.add(waiting);
      const leave = () => {
        if (!this.#waiting.delete(waiting)) return;
        resolve(false);
        // The next one may be smaller, and fit.
        this.#admitWaiting();
      };
      giveUp?.addEventListener('abort', leave, { once: true });
    });
  }

  #admitWaiting(): void {
    for (const next of this.#waiting) {
      if (!this.#fits(next.bytes)) return;
      this.#waiting.delete(next);
      // Counted here, because the admitted work runs only in a later microtask.
      this.#bytes += next.bytes;
      next.enter();
    }
  }
}
