/** How long the prefetch stays reduced after the last message that was too large for its queue. */
const reducedForMs = 600_000;

/**
 * How many messages a consumer may hold at once. The prefetch counts messages, and memory is bounded in bytes: a queue holds
 * one class of sizes, so its usual prefetch bounds both. A queue may still hold larger messages: those of an older version,
 * which had one class, or of receivers with a larger `BODY_BYTES_MAX`. A few of them are held beside the others. When the
 * messages in flight take more bytes than a whole prefetch of the queue's own size may, the prefetch is reduced to as many
 * messages of that size as fit into those bytes, until ten minutes after the last of them.
 */
export class AdaptivePrefetch {
  readonly #usual: number;
  readonly #messageBytesMax: number;
  #reduced: number;
  #reducedUntil = Number.NEGATIVE_INFINITY;

  constructor(prefetch: number, messageBytesMax: number) {
    this.#usual = prefetch;
    this.#messageBytesMax = messageBytesMax;
    this.#reduced = prefetch;
  }

  /** `now`: ms. */
  at(now: number): number {
    return now < this.#reducedUntil ? this.#reduced : this.#usual;
  }

  /** Takes the size of a message that has arrived, and the bytes of all messages in flight with it. */
  received(bytes: number, bytesInFlight: number, now: number): void {
    if (bytes <= this.#messageBytesMax) return;
    const bytesMax = this.#usual * this.#messageBytesMax;
    if (bytesInFlight > bytesMax) {
      const fitting = Math.max(1, Math.floor(bytesMax / bytes));
      this.#reduced = now < this.#reducedUntil ? Math.min(this.#reduced, fitting) : fitting;
      this.#reducedUntil = now + reducedForMs;
    } else if (now < this.#reducedUntil) {
      this.#reducedUntil = now + reducedForMs;
    }
  }
}
