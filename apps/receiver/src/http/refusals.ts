const leastSeconds = 4;
const mostSeconds = 60;
/** A refusal after this long without one begins another outage. */
const overAfterMs = 5_000;

/**
 * Bounds the `Retry-After` of refusals during an outage. The bound grows with the outage, so that the senders that were
 * refused spread their retries over as long a time, on top of the regular traffic.
 */
export class Refusals {
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** Counts one refusal and returns the bound, 4 to 60 s. `now` is `performance.now()`. */
  retryAfterMaxSeconds(now: number): number {
    if (now - this.#last > overAfterMs) this.#since = now;
    this.#last = now;
    return Math.min(mostSeconds, leastSeconds + Math.floor((now - this.#since) / 1_000));
  }
}
