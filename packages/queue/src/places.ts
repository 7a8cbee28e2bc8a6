/** How long a consumer stays with few places after the last message that was too large for its queue. */
const fewForMs = 600_000;

/**
 * How many messages a consumer may hold at once. The prefetch counts messages and memory is bytes; a queue holds one class of
 * sizes, so that a fixed prefetch bounds both. A queue may still hold messages that are larger: those of an older version,
 * which had one class, or of receivers with a larger `BODY_BYTES_MAX`. A few do no harm. When they come to more bytes than
 * the whole prefetch of proper ones, the consumer gets as few places as messages of that size may have, for ten minutes after
 * the last of them.
 */
export class Places {
  readonly #usual: number;
  readonly #messageBytesMax: number;
  #few: number;
  #fewUntil = Number.NEGATIVE_INFINITY;

  constructor(prefetch: number, messageBytesMax: number) {
    this.#usual = prefetch;
    this.#messageBytesMax = messageBytesMax;
    this.#few = prefetch;
  }

  /** `now`: ms. */
  at(now: number): number {
    return now < this.#fewUntil ? this.#few : this.#usual;
  }

  /** A message has arrived, and with it so many bytes are held. */
  received(bytes: number, bytesHeld: number, now: number): void {
    if (bytes <= this.#messageBytesMax) return;
    const bytesMax = this.#usual * this.#messageBytesMax;
    if (bytesHeld > bytesMax) {
      const fitting = Math.max(1, Math.floor(bytesMax / bytes));
      this.#few = now < this.#fewUntil ? Math.min(this.#few, fitting) : fitting;
      this.#fewUntil = now + fewForMs;
    } else if (now < this.#fewUntil) {
      this.#fewUntil = now + fewForMs;
    }
  }
}
