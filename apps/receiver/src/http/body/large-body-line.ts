export type LineOptions = {
  /** Whether a body of so many bytes fits what all senders together may hold now. */
  hasRoom: (bytes: number) => boolean;
  /** Whether it fits the share of its sender's address. */
  hasShare: (address: string, bytes: number) => boolean;
  waitMs: number;
};

/** A bound, since Node has already read up to 64 KiB of each, which are not counted. */
const waitingMax = 256;

type Waiting = { address: string; bytes: number; begin: () => void };

/** Large bodies that are not read yet because there is no room, in the order they came. */
export class LargeBodyLine {
  readonly #options: LineOptions;
  readonly #waiting = new Set<Waiting>();

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /**
   * Calls `begin` once: with true when there is room, with false after `waitMs`, or at once when too many wait. The returned
   * function leaves the line.
   */
  join(address: string, bytes: number, begin: (fits: boolean) => void): () => void {
    const end = (fits: boolean) => {
      leave();
      begin(fits);
    };
    const waiting = { address, bytes, begin: () => end(true) };
    const timer = setTimeout(() => end(false), this.#options.waitMs);
    const leave = () => {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
    };
    this.#waiting.add(waiting);
    this.admit();
    if (this.#waiting.size > waitingMax && this.#waiting.has(waiting)) end(false);
    return leave;
  }

  /** Begins with the bodies that there is room for. `begin` must take it. */
  admit(): void {
    const { hasRoom, hasShare } = this.#options;
    for (const { address, bytes, begin } of this.#waiting) {
      if (!hasRoom(bytes)) return;
      if (hasShare(address, bytes)) begin();
    }
  }
}
