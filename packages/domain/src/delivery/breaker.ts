/** What is known of an endpoint that has failed lately; none is known of one that has not. Times are ms since epoch. */
export type Breaker = {
  /** `half_open`: one delivery is trying it. */
  state: 'closed' | 'open' | 'half_open';
  /** In a row. */
  failures: number;
  failingSince: number | null;
  openedAt: number | null;
  /** When one delivery may try it (again). */
  probeAt: number | null;
  /** Between the last probe that failed and the next. */
  intervalMs: number;
  /** When it last closed after it had been open. */
  closedAt: number | null;
};

const failuresToOpen = 10;
/** A burst that meets a restart is the retry schedule's; an endpoint is down when it has failed for longer. */
const failingMsToOpen = 10_000;
const firstIntervalMs = 5_000;
const longestIntervalMs = 30_000;
/** For so long after it closed, a row of failures opens it at once. */
const recoveringMs = 60_000;

/** `may_probe`: it is open, and one delivery may try it now, for whoever `claimProbe` says so to. */
export function verdictOf(breaker: Breaker | undefined, now: number): 'closed' | 'open' | 'may_probe' {
  if (!breaker || breaker.state === 'closed') return 'closed';
  return now >= (breaker.probeAt ?? 0) ? 'may_probe' : 'open';
}

/** After `count` failures in a row, the first of which began at `since`. `probed`: the last was the probe's. */
export function afterFailures(
  breaker: Breaker | undefined,
  { count, since, now, probed }: { count: number; since: number; now: number; probed: boolean },
): Breaker {
  const before = breaker ?? unknown;
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

/** Nothing is worth knowing of an endpoint that works, but for a while that it has just come back. */
export function afterSuccess(breaker: Breaker, now: number): Breaker | undefined {
  const closedAt = breaker.state === 'closed' ? breaker.closedAt : now;
  return isRecovering({ closedAt }, now) ? { ...unknown, closedAt } : undefined;
}

/** For whoever may try an open endpoint now: nobody else may for `leaseMs`. Undefined when it may not. */
export function claimProbe(
  breaker: Breaker | undefined,
  { now, leaseMs }: { now: number; leaseMs: number },
): Breaker | undefined {
  if (!breaker || verdictOf(breaker, now) !== 'may_probe') return undefined;
  return { ...breaker, state: 'half_open', probeAt: now + Math.max(leaseMs, breaker.intervalMs) };
}

const unknown: Breaker = {
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
