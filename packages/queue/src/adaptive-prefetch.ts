/** How long the prefetch stays reduced after the last message that was too large for its queue. */
const reducedForMs = 600_000;

/**
 * How many messages a consumer may hold at once. The prefetch counts messages, and memory is bounded in bytes: a queue holds
 * one class of sizes, so its usual prefetch bounds both. A queue may still hold larger messages: those of an older version,
 * which had one class, or of receivers with a larger `BODY_BYTES_MAX`. A few of them are held beside the others. When the
 * messages in flight take more bytes than `messagesMax` of the queue's own size may, the prefetch is reduced to as many
 * messages of that size as fit into those bytes, until ten minutes after the last of them.
 */
export class AdaptivePrefetch {
  readonly #usual: number;
  readonly #messageBytesMax: number;
  readonly #bytesMax: number;
  #reduced: number;
  #reducedUntil = Number.NEGATIVE_INFINITY;

  constructor(prefetch: number, messageBytesMax: number, messagesMax = prefetch) {
    this.#usual = prefetch;
    this.#messageBytesMax = messageBytesMax;
    this.#bytesMax = messagesMax * messageBytesMax;
    this.#reduced = prefetch;
  }

  /** `now`: ms. */
  at(now: number): number {
    return this.isReduced(now) ? this.#reduced : this.#usual;
  }

  /** `now`: ms. */
  isReduced(now: number): boolean {
    return now < this.#reducedUntil;
  }

  /** Takes the size of a message that has arrived, and the bytes of all messages in flight with it. */
  received(bytes: number, bytesInFlight: number, now: number): void {
    if (bytes <= this.#messageBytesMax) return;
    if (bytesInFlight > this.#bytesMax) {
      const fitting = Math.min(this.#usual, Math.max(1, Math.floor(this.#bytesMax / bytes)));
      this.#reduced = this.isReduced(now) ? Math.min(this.#reduced, fitting) : fitting;
      this.#reducedUntil = now + reducedForMs;
    } else if (this.isReduced(now)) {
      this.#reducedUntil = now + reducedForMs;
    }
  }
}
