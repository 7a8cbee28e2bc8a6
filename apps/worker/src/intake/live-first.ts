import { afterWindow, initialYieldingRate } from '@hqrelay/flow/yielding-rate';

const windowMs = 250;
/** A window with fewer webhooks is too small a sample of their delay. */
const samplesMin = 5;
/** The limit ends when no new webhook has arrived for this long. */
const spareForMs = 5_000;
const tickMs = 5;

type Waiter = (isTurn: boolean) => void;

/**
 * Limits retries and replays while new webhooks arrive: their rate follows how long new webhooks take from received to
 * dispatched. While none arrive there is no limit. How many wait for a turn is bounded by their lane's prefetch. Endpoints
 * take turns, so that a retry of one does not wait for hundreds of another.
 */
export class LiveFirst {
  readonly #now: () => number;
  #rate = initialYieldingRate;
  #delaysMs: number[] = [];
  #windowFrom = 0;
  #lastLiveAt = Number.NEGATIVE_INFINITY;
  /** By endpoint, the next one first. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waitingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #allowance = 0;
  #allowedAt = 0;
  #isStopped = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new webhook is dispatched that was received at this time, ms since epoch. */
  live(receivedAt: number): void {
    const now = this.#now();
    this.#lastLiveAt = now;
    this.#delaysMs.push(now - receivedAt);
    if (now - this.#windowFrom < windowMs || this.#delaysMs.length < samplesMin) return;
    this.#rate = afterWindow(this.#rate, { delayMs: median(this.#delaysMs), now });
    this.#delaysMs = [];
    this.#windowFrom = now;
  }

  /** Waits for a turn of a delivery to this endpoint. False when the worker stops: the message is to be requeued. */
  turn(endpointId: string): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    if (this.#waitingCount === 0 && !this.#sparesLive()) return Promise.resolve(true);
    if (this.#timer === undefined) {
      this.#allowedAt = performance.now();
      this.#timer = setInterval(() => this.#giveTurns(), tickMs);
    }
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(endpointId);
      if (waiting) waiting.push(resolve);
      else this.#waiting.set(endpointId, [resolve]);
      this.#waitingCount += 1;
    });
  }

  /** Refuses every message that waits, and all later ones. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (let left = this.#waitingCount; left > 0; left -= 1) this.#takeNext()?.(false);
  }

  /** Turns are spread evenly, because a burst of retries delays new webhooks. */
  #giveTurns(): void {
    const at = performance.now();
    const elapsedMs = at - this.#allowedAt;
    this.#allowedAt = at;
    const most = this.#sparesLive()
      ? Math.min(this.#allowance + (this.#rate.perSecond * elapsedMs) / 1_000, 1 + this.#rate.perSecond / 50)
      : Number.POSITIVE_INFINITY;
    const count = Math.min(Math.floor(most), this.#waitingCount);
    this.#allowance = Number.isFinite(most) ? most - count : 0;
    for (let given = 0; given < count; given += 1) this.#takeNext()?.(true);
    if (this.#waitingCount > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Removes the first delivery of the next endpoint, which comes last in the rotation then. */
  #takeNext(): Waiter | undefined {
    for (const [endpointId, waiting] of this.#waiting) {
      const next = waiting.shift();
      this.#waiting.delete(endpointId);
      if (waiting.length > 0) this.#waiting.set(endpointId, waiting);
      this.#waitingCount -= 1;
      return next;
    }
    return undefined;
  }

  #sparesLive(): boolean {
    return this.#now() - this.#lastLiveAt < spareForMs;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
