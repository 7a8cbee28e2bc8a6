/** Lets work with many bytes through a few at a time, in the order it came. */
export class ByteGate {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Runs `work` when its bytes fit; alone, when it has more than would ever fit. */
  async pass<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }));
    } else {
      this.#bytes += bytes;
    }
    try {
      return await work();
    } finally {
      this.#bytes -= bytes;
      this.#admit();
    }
  }

  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      // Counted now: the one let in runs only later.
      this.#bytes += next.bytes;
      next.enter();
    }
  }
}
