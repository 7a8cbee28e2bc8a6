import type { DeliveryHistory } from '@hqrelay/db/queries/delivery-attempts';
import type { AttemptOutcome } from '@hqrelay/domain/delivery/attempt-outcome';
import { nextDelayMs } from '@hqrelay/domain/delivery/retry-schedule';

/** What an attempt leads to. */
export type Conclusion =
  | { kind: 'delivered' }
  /** ms since epoch. */
  | { kind: 'retry'; nextAttemptAt: number }
  | { kind: 'dead_letter'; reason: string }
  /** The endpoint answered 410: it is disabled, and the delivery waits. */
  | { kind: 'gone'; reason: string };

const gone: Conclusion = { kind: 'gone', reason: 'the endpoint answered 410 Gone' };

function deadLetter(error: string, attemptNum: number): Conclusion {
  return { kind: 'dead_letter', reason: `${error} at attempt ${attemptNum}, the last` };
}

/** Delays below this are rungs of the ladder themselves: jitter would only add a second rung to them. */
const jitterFromMs = 10_000;

/** `now` is the end of the attempt, from which the next delay counts. */
export function concludeAttempt(input: {
  outcome: AttemptOutcome;
  schedule: readonly string[];
  attemptNum: number;
  now: number;
  random: () => number;
}): Conclusion {
  const { outcome, schedule, attemptNum, now } = input;
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'delivered' };
    case 'gone':
      return gone;
    case 'failed': {
      const retryAfterMs = outcome.retryAfterMs;
      const exact = nextDelayMs({
        schedule,
        attemptNum,
        random: () => 0,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
      if (exact === null) return deadLetter(outcome.error, attemptNum);
      const jitterMs = exact < jitterFromMs ? 0 : exact * 0.1 * input.random();
      return { kind: 'retry', nextAttemptAt: now + Math.ceil(exact + jitterMs) };
    }
  }
}

/** What the last attempt led to, as far as its row tells: for whoever takes over from one that died after writing it. */
export function concludedBefore(history: DeliveryHistory): Conclusion {
  const { lastStatus, lastAttemptNum, lastError, nextAttemptAt } = history;
  if (lastStatus === 'delivered') return { kind: 'delivered' };
  if (lastStatus === 'dead_lettered') return deadLetter(lastError ?? 'failed', lastAttemptNum);
  return nextAttemptAt === null ? gone : { kind: 'retry', nextAttemptAt };
}
