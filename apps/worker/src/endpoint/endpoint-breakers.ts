import { setTimeout as wait } from 'node:timers/promises';
import type { Postgres } from '@hqrelay/db/postgres';
import { changeBreaker, readBreakers } from '@hqrelay/db/queries/endpoint-breakers';
import {
  afterFailures,
  afterSuccess,
  claimProbe,
  verdictOf,
  type Breaker,
} from '@hqrelay/domain/delivery/breaker';

export type EndpointBreakersOptions = {
  postgres: Postgres;
  now: () => number;
  /** Told by the worker that opened or closed it. */
  onChange: (endpointId: string, state: 'open' | 'closed') => void;
  onError: (error: unknown) => void;
};

type Streak = { count: number; since: number; probed: boolean };

/** Failures in a row that are kept to ourselves: most are over with the next attempt. */
const failuresUntold = 3;
const changeTimeoutMs = 1_000;
/** Between two changes of one endpoint's row by one worker. */
const changeEveryMs = 250;

/**
 * What this worker knows of endpoints that fail. The workers agree through one table: each reads it every second, and tells
 * it what it saw; while Postgres is away each goes by what it sees itself. An endpoint that works costs nothing here.
 */
export class EndpointBreakers {
  readonly #options: EndpointBreakersOptions;
  #known = new Map<string, Breaker>();
  /** Failures that the others were not told of. */
  readonly #streaks = new Map<string, Streak>();
  /** The last thing under way with each endpoint's row: one after another. */
  readonly #telling = new Map<string, Promise<void>>();
  /** Endpoints whose probe is being claimed: when an interval is over thousands may come at once. */
  readonly #claiming = new Set<string>();

  constructor(options: EndpointBreakersOptions) {
    this.#options = options;
  }

  verdict(endpointId: string): 'closed' | 'open' | 'may_probe' {
    return verdictOf(this.#known.get(endpointId), this.#options.now());
  }

  /** Whether this worker, and no other, may try an open endpoint now. */
  async claimProbe(endpointId: string, leaseMs: number): Promise<boolean> {
    if (this.#claiming.has(endpointId)) return false;
    this.#claiming.add(endpointId);
    let isClaimed = false;
    try {
      await this.#change(endpointId, (before) => {
        const now = this.#options.now();
        const claimed = claimProbe(before, { now, leaseMs });
        // Closed meanwhile: nobody needs to be asked.
        isClaimed = claimed !== undefined || verdictOf(before, now) === 'closed';
        return claimed ?? before;
      });
    } finally {
      this.#claiming.delete(endpointId);
    }
    return isClaimed;
  }

  succeeded(endpointId: string): void {
    this.#streaks.delete(endpointId);
    const known = this.#known.get(endpointId);
    if (!known || (known.state === 'closed' && known.failures === 0)) return;
    const now = this.#options.now();
    // Known at once, so that the next thousand successes do not tell it too.
    this.#remember(endpointId, afterSuccess(known, now));
    this.#tell(endpointId, (before) => before && afterSuccess(before, now));
  }

  failed(endpointId: string, { startedAt, probed }: { startedAt: number; probed: boolean }): void {
    const streak = this.#streaks.get(endpointId);
    this.#streaks.set(endpointId, {
      count: (streak?.count ?? 0) + 1,
      since: Math.min(streak?.since ?? startedAt, startedAt),
      probed: probed || (streak?.probed ?? false),
    });
    const isTold = probed || this.#known.has(endpointId) || (streak?.count ?? 0) >= failuresUntold;
    if (isTold && !this.#telling.has(endpointId)) this.#tellFailures(endpointId);
  }

  /** Learns what the others know. */
  async refresh(): Promise<void> {
    const read = await this.#options.postgres.tryWithin(changeTimeoutMs, readBreakers);
    if (read) this.#known = read.value;
  }

  get openCount(): number {
    return [...this.#known.values()].filter(({ state }) => state !== 'closed').length;
  }

  /** All failures since the last time in one change, so that a dead endpoint costs no more than a few changes a second. */
  #tellFailures(endpointId: string): void {
    this.#tell(endpointId, (before) => {
      const streak = this.#streaks.get(endpointId);
      if (!streak) return before;
      this.#streaks.delete(endpointId);
      return afterFailures(before, { ...streak, now: this.#options.now() });
    });
  }

  #tell(endpointId: string, change: (before: Breaker | undefined) => Breaker | undefined): void {
    const work = (this.#telling.get(endpointId) ?? Promise.resolve())
      .then(() => this.#change(endpointId, change))
      .catch(this.#options.onError)
      .then(() => wait(changeEveryMs, undefined, { ref: false }))
      .finally(() => {
        if (this.#telling.get(endpointId) !== work) return;
        this.#telling.delete(endpointId);
        if (this.#streaks.has(endpointId) && this.#known.has(endpointId)) this.#tellFailures(endpointId);
      });
    this.#telling.set(endpointId, work);
  }

  async #change(
    endpointId: string,
    change: (before: Breaker | undefined) => Breaker | undefined,
  ): Promise<void> {
    // A change is made once: what Postgres did not take in time is made here alone.
    let made: { after: Breaker | undefined } | undefined;
    const once = (before: Breaker | undefined) => (made ??= { after: change(before) }).after;
    const done = await this.#options.postgres.tryWithin(changeTimeoutMs, (pool) =>
      changeBreaker(pool, endpointId, once),
    );
    const before = done ? done.value.before : this.#known.get(endpointId);
    const after = done ? done.value.after : once(before);
    this.#remember(endpointId, after);
    const [wasOpen, isOpen] = [before, after].map((breaker) => (breaker?.state ?? 'closed') !== 'closed');
    if (wasOpen !== isOpen) this.#options.onChange(endpointId, isOpen ? 'open' : 'closed');
  }

  #remember(endpointId: string, breaker: Breaker | undefined): void {
    if (breaker) this.#known.set(endpointId, breaker);
    else this.#known.delete(endpointId);
  }
}
