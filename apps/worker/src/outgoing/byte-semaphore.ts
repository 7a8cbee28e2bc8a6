/** Bounds the bytes of the work that runs at once. Work that does not fit waits, in the order it came. */
export class ByteSemaphore {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Runs `work` when its bytes fit, or alone when they exceed the bound. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }));
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

  #admitWaiting(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      // Counted here, because the admitted work runs only in a later microtask.
      this.#bytes += next.bytes;
      next.enter();
    }
  }
}
