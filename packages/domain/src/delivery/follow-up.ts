import type { AttemptOutcome } from './attempt-outcome.ts';
import type { DeliveryHistory } from './duplicates.ts';
import { nextDelayMs } from './retry-schedule.ts';

/** What a worker does once an attempt is recorded. */
export type FollowUp =
  /** The webhook is delivered. */
  | { kind: 'none' }
  /** ms since epoch. */
  | { kind: 'retry'; nextAttemptAt: number }
  | { kind: 'dead_letter'; reason: string }
  /** The endpoint answered 410: the delivery is held, for an operator who enables the endpoint again. */
  | { kind: 'disable_endpoint'; reason: string };

/** Shorter delays are rungs of the ladder themselves: jitter would only add a second rung to them. */
const jitterFromMs = 10_000;
const jitterShare = 0.1;

const disableEndpoint: FollowUp = { kind: 'disable_endpoint', reason: 'the endpoint answered 410 Gone' };

/** The follow-up of an attempt that ended at `now` (ms). The next delay counts from there, plus jitter, never less. */
export function followUpOf(attempt: {
  outcome: AttemptOutcome;
  schedule: readonly string[];
  attemptNum: number;
  now: number;
  random: () => number;
}): FollowUp {
  const { outcome, schedule, attemptNum, now, random } = attempt;
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'none' };
    case 'gone':
      return disableEndpoint;
    case 'failed': {
      const delayMs = nextDelayMs({ schedule, attemptNum, retryAfterMs: outcome.retryAfterMs });
      if (delayMs === null) return deadLetter(outcome.error, attemptNum);
      const jitterMs = delayMs < jitterFromMs ? 0 : delayMs * jitterShare * random();
      return { kind: 'retry', nextAttemptAt: now + Math.ceil(delayMs + jitterMs) };
    }
  }
}

/** The follow-up of the last recorded attempt, derived from its row: the worker that recorded it may have crashed first. */
export function recordedFollowUp(history: DeliveryHistory): FollowUp {
  const { lastStatus, lastAttemptNum, lastError, nextAttemptAt } = history;
  if (lastStatus === 'delivered') return { kind: 'none' };
  if (lastStatus === 'dead_lettered') return deadLetter(lastError ?? 'failed', lastAttemptNum);
  return nextAttemptAt === null ? disableEndpoint : { kind: 'retry', nextAttemptAt };
}

function deadLetter(error: string, attemptNum: number): FollowUp {
  return { kind: 'dead_letter', reason: `${error} at attempt ${attemptNum}, the last` };
}
