const secondMs = 1_000;
const fullRatePerSecond = 100;

/**
 * Decides which lines about successes are written: the first hundred of a second, and after them those of one webhook in 256,
 * chosen by its id, so that receivers and workers keep the same ones. Lines about failures are always written.
 */
export class SuccessSampler {
  readonly #now: () => number;
  #second = 0;
  #written = 0;
  #dropped = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to write the line of this webhook; a line that is not written is counted. */
  admits(webhookId: string | undefined): boolean {
    const second = Math.floor(this.#now() / secondMs);
    if (second !== this.#second) {
      this.#second = second;
      this.#written = 0;
    }
    this.#written += 1;
    const isAdmitted = this.#written <= fullRatePerSecond || webhookId?.endsWith('00') === true;
    if (!isAdmitted) this.#dropped += 1;
    return isAdmitted;
  }

  /** The lines that were dropped since the last call, for the next line that is written; undefined when there are none. */
  takeDropped(): number | undefined {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped === 0 ? undefined : dropped;
  }
}
