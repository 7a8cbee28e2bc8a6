import type { ErrorAnswer } from '../answer.ts';

type Bucket = { tokens: number; at: number };

/** Callers that are remembered. The one that was idle longest is forgotten first. */
const callersMax = 10_000;

/** A token bucket for each caller, in the memory of this process. */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  readonly #perSecond: number;
  readonly #burst: number;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes one token: 0 when there was one, else the ms until the next. `now` in ms. */
  take(caller: string, now: number): number {
    const bucket = this.#fill(caller, now);
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / this.#perSecond) * 1_000);
    bucket.tokens -= 1;
    return 0;
  }

  /** The ms until a token is there; takes none. */
  waitOf(caller: string, now: number): number {
    const bucket = this.#buckets.get(caller);
    if (!bucket) return 0;
    const { tokens } = this.#fill(caller, now);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / this.#perSecond) * 1_000);
  }

  #fill(caller: string, now: number): Bucket {
    const before = this.#buckets.get(caller) ?? { tokens: this.#burst, at: now };
    const gained = (Math.max(0, now - before.at) / 1_000) * this.#perSecond;
    const bucket = { tokens: Math.min(this.#burst, before.tokens + gained), at: now };
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > callersMax && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}

export function tooManyRequests(waitMs: number): ErrorAnswer {
  return {
    statusCode: 429,
    code: 'request.too_many',
    message: 'Too many requests: wait as long as Retry-After says',
    headers: { 'Retry-After': String(Math.ceil(waitMs / 1_000)) },
  };
}
