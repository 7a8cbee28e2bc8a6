/**
 * A circuit breaker: keeps every caller from waiting for a store that does not answer. A failure opens it for a time, after
 * which it allows one trial at a time. A trial that succeeds closes it, and one that fails opens it for twice as long.
 */
export class Circuit {
  #openUntil: number | undefined;
  #openForMs: number;
  #trialUntil = 0;
  readonly #firstOpenMs: number;
  readonly #longestOpenMs: number;
  readonly #trialMs: number;

  /** `trialMs`: how long a trial may stay undecided before the next is allowed. */
  constructor(options: { firstOpenMs: number; longestOpenMs: number; trialMs: number }) {
    this.#firstOpenMs = options.firstOpenMs;
    this.#longestOpenMs = options.longestOpenMs;
    this.#trialMs = options.trialMs;
    this.#openForMs = options.firstOpenMs;
  }

  /** Whether this caller may try. If so, it must report `succeeded` or `failed`. */
  allows(now: number): boolean {
    if (!this.wouldAllow(now)) return false;
    if (this.#openUntil !== undefined) this.#trialUntil = now + this.#trialMs;
    return true;
  }

  /** Whether `allows` would return true, without using up the trial. */
  wouldAllow(now: number): boolean {
    return this.#openUntil === undefined || (now >= this.#openUntil && now >= this.#trialUntil);
  }

  get isOpen(): boolean {
    return this.#openUntil !== undefined;
  }

  succeeded(): void {
    this.#openUntil = undefined;
    this.#openForMs = this.#firstOpenMs;
    this.#trialUntil = 0;
  }

  /** Failures of callers that were allowed before the circuit opened do not lengthen the wait. */
  failed(now: number): void {
    if (this.#openUntil !== undefined && this.#trialUntil === 0) return;
    this.#openUntil = now + this.#openForMs;
    this.#openForMs = Math.min(this.#openForMs * 2, this.#longestOpenMs);
    this.#trialUntil = 0;
  }
}
