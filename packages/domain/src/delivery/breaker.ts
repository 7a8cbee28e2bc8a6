/** The state of an endpoint that failed lately; an endpoint that did not has none. Times are ms since epoch. */
export type Breaker = {
  /** `half_open`: one delivery probes the endpoint. */
  state: 'closed' | 'open' | 'half_open';
  /** Consecutive ones. */
  failures: number;
  failingSince: number | null;
  openedAt: number | null;
  /** When one delivery may probe the endpoint (again). */
  probeAt: number | null;
  /** Between the last probe that failed and the next. */
  intervalMs: number;
  /** When it last closed after it was open. */
  closedAt: number | null;
};

/** What a breaker lets through: everything, nothing, or one probe, for the worker to which `claimProbe` grants it. */
export type Passage = 'closed' | 'open' | 'may_probe';

const failuresToOpen = 10;
/** A restart of the endpoint fails a burst, which the retry schedule absorbs; an endpoint is down when it fails for longer. */
const failingMsToOpen = 10_000;
const firstIntervalMs = 5_000;
const longestIntervalMs = 30_000;
/** For so long after it closed, ten failures in a row open it at once. */
const recoveringMs = 60_000;

export function passageOf(breaker: Breaker | undefined, now: number): Passage {
  if (!breaker || breaker.state === 'closed') return 'closed';
  return now >= (breaker.probeAt ?? 0) ? 'may_probe' : 'open';
}

/** After `count` failures in a row, the first of which began at `since`. `probed`: one of them was the probe's. */
export function afterFailures(
  breaker: Breaker | undefined,
  { count, since, now, probed }: { count: number; since: number; now: number; probed: boolean },
): Breaker {
  const before = breaker ?? neverFailed;
  const failing = {
    ...before,
    failures: before.failures + count,
    failingSince: before.failingSince ?? since,
  };
  if (before.state === 'closed') return shouldOpen(failing, now) ? opened(failing, now) : failing;
  if (!probed) return failing;
  const intervalMs = Math.min(before.intervalMs * 2, longestIntervalMs);
  return { ...failing, state: 'open', intervalMs, probeAt: now + intervalMs };
}

/** An endpoint that works has no state, except for a while after it recovered. */
export function afterSuccess(breaker: Breaker, now: number): Breaker | undefined {
  const closedAt = breaker.state === 'closed' ? breaker.closedAt : now;
  return isRecovering({ closedAt }, now) ? { ...neverFailed, closedAt } : undefined;
}

/** The breaker with its probe granted: no other delivery may probe for `leaseMs`. Undefined when none may probe now. */
export function claimProbe(
  breaker: Breaker | undefined,
  { now, leaseMs }: { now: number; leaseMs: number },
): Breaker | undefined {
  if (!breaker || passageOf(breaker, now) !== 'may_probe') return undefined;
  return { ...breaker, state: 'half_open', probeAt: now + Math.max(leaseMs, breaker.intervalMs) };
}

const neverFailed: Breaker = {
  state: 'closed',
  failures: 0,
  failingSince: null,
  openedAt: null,
  probeAt: null,
  intervalMs: firstIntervalMs,
  closedAt: null,
};

function shouldOpen(breaker: Breaker, now: number): boolean {
  if (breaker.failures < failuresToOpen) return false;
  return isRecovering(breaker, now) || now - (breaker.failingSince ?? now) >= failingMsToOpen;
}

function opened(breaker: Breaker, now: number): Breaker {
  return {
    ...breaker,
    state: 'open',
    openedAt: now,
    intervalMs: firstIntervalMs,
    probeAt: now + firstIntervalMs,
  };
}

function isRecovering({ closedAt }: Pick<Breaker, 'closedAt'>, now: number): boolean {
  return closedAt !== null && now - closedAt < recoveringMs;
}
