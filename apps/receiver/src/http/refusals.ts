const leastSeconds = 4;
const mostSeconds = 60;
/** Without a refusal for this long, the next one begins another outage. */
const overAfterMs = 5_000;

/**
 * How long senders that are refused in an outage may be told to stay away: as long as it has lasted, so that those of a
 * whole outage come back over as long a time and not all at once, on top of the traffic there is.
 */
export class Refusals {
  #since = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** One more is refused. `now` is `performance.now()`; the answer is in seconds, 4 to 60. */
  stayAwayAtMost(now: number): number {
    if (now - this.#last > overAfterMs) this.#since = now;
    this.#last = now;
    return Math.min(mostSeconds, leastSeconds + Math.floor((now - this.#since) / 1_000));
  }
}
