import { afterWindow, initialYieldingRate } from '@hqrelay/flow/yielding-rate';

const windowMs = 250;
/** A window with fewer webhooks says too little of their delay. */
const samplesMin = 5;
/** New webhooks that came so lately are to be spared. */
const spareForMs = 5_000;
const tickMs = 5;

/**
 * Lets retries and replays go only as fast as new webhooks do not notice: while some come, at a rate that follows how long they
 * take from received to being worked on; while none come, at once. What waits for its turn is bounded by its lane.
 */
export class LiveFirst {
  readonly #now: () => number;
  #rate = initialYieldingRate;
  #delaysMs: number[] = [];
  #windowFrom = 0;
  #lastLiveAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: ((isTurn: boolean) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #allowance = 0;
  #allowedAt = 0;
  #isStopped = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new webhook is being worked on that was received at this time, ms since epoch. */
  live(receivedAt: number): void {
    const now = this.#now();
    this.#lastLiveAt = now;
    this.#delaysMs.push(now - receivedAt);
    if (now - this.#windowFrom < windowMs || this.#delaysMs.length < samplesMin) return;
    this.#rate = afterWindow(this.#rate, { delayMs: median(this.#delaysMs), now });
    this.#delaysMs = [];
    this.#windowFrom = now;
  }

  /** Waits for a turn. False when there will be none any more: the work is to be given back. */
  turn(): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    if (this.#waiting.length === 0 && !this.#sparesLive()) return Promise.resolve(true);
    if (this.#timer === undefined) {
      this.#allowedAt = performance.now();
      this.#timer = setInterval(() => this.#letGo(), tickMs);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waiting: no message gets a turn after it. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }

  /** Evenly over time: a burst would be noticed, however rare. */
  #letGo(): void {
    const at = performance.now();
    const elapsedMs = at - this.#allowedAt;
    this.#allowedAt = at;
    const most = this.#sparesLive()
      ? Math.min(this.#allowance + (this.#rate.perSecond * elapsedMs) / 1_000, 1 + this.#rate.perSecond / 50)
      : Number.POSITIVE_INFINITY;
    const count = Math.min(Math.floor(most), this.#waiting.length);
    this.#allowance = Number.isFinite(most) ? most - count : 0;
    for (const resolve of this.#waiting.splice(0, count)) resolve(true);
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #sparesLive(): boolean {
    return this.#now() - this.#lastLiveAt < spareForMs;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
