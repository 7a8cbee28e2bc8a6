import { setTimeout as wait } from 'node:timers/promises';
import type { Postgres } from '@hqrelay/db/postgres';
import { changeBreaker, readBreakers } from '@hqrelay/db/queries/endpoint-breakers';
import {
  afterFailures,
  afterSuccess,
  claimProbe,
  passageOf,
  type Breaker,
  type Passage,
} from '@hqrelay/domain/delivery/breaker';

export type EndpointBreakersOptions = {
  postgres: Postgres;
  now: () => number;
  /** Called by the worker that opened or closed the breaker. */
  onChange: (endpointId: string, state: 'open' | 'closed') => void;
  onError: (error: unknown) => void;
};

/** Failures in a row that are not in Postgres yet. */
type Streak = { count: number; since: number; probed: boolean };

type Change = (before: Breaker | undefined) => Breaker | undefined;

/** Up to this many failures in a row stay in memory, because most streaks end with the next attempt. */
const failuresInMemory = 3;
const changeTimeoutMs = 1_000;
/** Between two changes of one endpoint's row by one worker. */
const changeEveryMs = 250;

/**
 * The breakers of all endpoints that fail. The workers share them through one table: each worker reads it every second and
 * writes the results of its own attempts. While Postgres is unavailable each worker acts on its own attempts alone. An endpoint
 * that works costs nothing here.
 */
export class EndpointBreakers {
  readonly #options: EndpointBreakersOptions;
  #breakers = new Map<string, Breaker>();
  readonly #streaks = new Map<string, Streak>();
  /** The latest change of each endpoint's row that is under way; the next one waits for it. */
  readonly #changing = new Map<string, Promise<void>>();
  /** Endpoints whose probe is being claimed: thousands of deliveries may ask at once when an interval ends. */
  readonly #claiming = new Set<string>();

  constructor(options: EndpointBreakersOptions) {
    this.#options = options;
  }

  stateOf(endpointId: string): Passage {
    return passageOf(this.#breakers.get(endpointId), this.#options.now());
  }

  /** Whether the caller, and no other worker or delivery, may post to an endpoint whose breaker is open. */
  async claimProbe(endpointId: string, leaseMs: number): Promise<boolean> {
    if (this.#claiming.has(endpointId)) return false;
    this.#claiming.add(endpointId);
    let isClaimed = false;
    try {
      await this.#change(endpointId, (before) => {
        const now = this.#options.now();
        const claimed = claimProbe(before, { now, leaseMs });
        // Another worker has closed the breaker meanwhile.
        isClaimed = claimed !== undefined || passageOf(before, now) === 'closed';
        return claimed ?? before;
      });
    } finally {
      this.#claiming.delete(endpointId);
    }
    return isClaimed;
  }

  succeeded(endpointId: string): void {
    this.#streaks.delete(endpointId);
    const breaker = this.#breakers.get(endpointId);
    if (!breaker || (breaker.state === 'closed' && breaker.failures === 0)) return;
    const now = this.#options.now();
    // In memory at once, so that the next thousand successes do not write it too.
    this.#remember(endpointId, afterSuccess(breaker, now));
    this.#changeInTurn(endpointId, (before) => before && afterSuccess(before, now));
  }

  failed(endpointId: string, { startedAt, probed }: { startedAt: number; probed: boolean }): void {
    const streak = this.#streaks.get(endpointId);
    this.#streaks.set(endpointId, {
      count: (streak?.count ?? 0) + 1,
      since: Math.min(streak?.since ?? startedAt, startedAt),
      probed: probed || (streak?.probed ?? false),
    });
    const isShared = probed || this.#breakers.has(endpointId) || (streak?.count ?? 0) >= failuresInMemory;
    if (isShared && !this.#changing.has(endpointId)) this.#writeStreak(endpointId);
  }

  /** Reads the breakers that all workers have written. */
  async refresh(): Promise<void> {
    const read = await this.#options.postgres.tryWithin(changeTimeoutMs, readBreakers);
    if (read) this.#breakers = read.value;
  }

  get openCount(): number {
    return [...this.#breakers.values()].filter(({ state }) => state !== 'closed').length;
  }

  /** Writes all failures since the last change as one, so that a dead endpoint costs a few changes a second at most. */
  #writeStreak(endpointId: string): void {
    this.#changeInTurn(endpointId, (before) => {
      const streak = this.#streaks.get(endpointId);
      if (!streak) return before;
      this.#streaks.delete(endpointId);
      return afterFailures(before, { ...streak, now: this.#options.now() });
    });
  }

  #changeInTurn(endpointId: string, change: Change): void {
    const work = (this.#changing.get(endpointId) ?? Promise.resolve())
      .then(() => this.#change(endpointId, change))
      .catch(this.#options.onError)
      .then(() => wait(changeEveryMs, undefined, { ref: false }))
      .finally(() => {
        if (this.#changing.get(endpointId) !== work) return;
        this.#changing.delete(endpointId);
        if (this.#streaks.has(endpointId) && this.#breakers.has(endpointId)) this.#writeStreak(endpointId);
      });
    this.#changing.set(endpointId, work);
  }

  async #change(endpointId: string, change: Change): Promise<void> {
    // Applied once: a change that Postgres did not take in time is made in memory alone.
    let applied: { after: Breaker | undefined } | undefined;
    const once: Change = (before) => (applied ??= { after: change(before) }).after;
    const stored = await this.#options.postgres.tryWithin(changeTimeoutMs, (pool) =>
      changeBreaker(pool, endpointId, once),
    );
    const before = stored ? stored.value.before : this.#breakers.get(endpointId);
    const after = stored ? stored.value.after : once(before);
    this.#remember(endpointId, after);
    const [wasOpen, isOpen] = [before, after].map((breaker) => (breaker?.state ?? 'closed') !== 'closed');
    if (wasOpen !== isOpen) this.#options.onChange(endpointId, isOpen ? 'open' : 'closed');
  }

  #remember(endpointId: string, breaker: Breaker | undefined): void {
    if (breaker) this.#breakers.set(endpointId, breaker);
    else this.#breakers.delete(endpointId);
  }
}
