/**
 * A message may be a duplicate: another message of the same delivery and attempt may exist, so its worker asks Postgres before
 * it posts. The value is the answer where the attempt is already recorded:
 * `done_if_recorded` for a message that was published again. The worker of the other message owns the follow-up.
 * `resume_if_recorded` for a redelivered message. The worker that had it may have crashed between the row and the follow-up.
 */
export type DuplicateMark = 'done_if_recorded' | 'resume_if_recorded';

/** The attempts of a delivery that Postgres has recorded, and what people decided about it. */
export type DeliveryHistory = {
  /** A person cancelled the delivery: no further attempt is made. */
  isCancelled: boolean;
  /** An attempt that a person asked for at once. Its message has this `notBefore` (ms), and replaces every other. */
  retryNow: { attemptNum: number; notBefore: number } | null;
  /** Delivered or dead-lettered: no further attempt is made. */
  finished: boolean;
  /** The highest attempt that has a row; 0 when there is none. */
  lastAttemptNum: number;
  lastStatus: 'delivered' | 'failed' | 'dead_lettered' | null;
  lastError: string | null;
  /** ms since epoch. */
  nextAttemptAt: number | null;
};

/**
 * `post`: make the attempt. `resume`: the attempt is recorded, do its follow-up. `done`: another worker owns the follow-up, or
 * did it, or a person cancelled the delivery or asked for the attempt by another message. `busy`: another message of the delivery is in flight in this worker, ask again later.
 */
export type DuplicateAnswer = 'post' | 'resume' | 'done' | 'busy';

/** The mark of a received message. */
export function markOnReceipt(
  mark: DuplicateMark | undefined,
  { redelivered }: { redelivered: boolean },
): DuplicateMark | undefined {
  return redelivered ? 'resume_if_recorded' : mark;
}

/** The mark of a message that its publisher may publish twice: from the outbox, after a hold, or in a fan-out. */
export function markWhenPublishedAgain(mark: DuplicateMark | undefined): DuplicateMark {
  return mark ?? 'done_if_recorded';
}

/** The mark of the next attempt's message: a worker that crashed after its follow-up may have published that one already. */
export function markOfNextAttempt({ isResumed }: { isResumed: boolean }): DuplicateMark | undefined {
  return isResumed ? 'done_if_recorded' : undefined;
}

/** Whether the worker reads the history before the attempt. An unmarked message of a first attempt has none. */
export function mustAskHistory(message: { mark: DuplicateMark | undefined; attemptNum: number }): boolean {
  return message.mark !== undefined || message.attemptNum > 1;
}

/** Decides whether a message is posted. `history` is undefined while Postgres is unavailable: then the attempt is made. */
export function answerDuplicate(message: {
  attemptNum: number;
  /** The earliest time of the attempt, ms since epoch. */
  notBefore: number;
  mark: DuplicateMark | undefined;
  history: DeliveryHistory | undefined;
  isInFlightHere: boolean;
}): DuplicateAnswer {
  const { attemptNum, mark, history } = message;
  if (message.isInFlightHere) return 'busy';
  if (!history) return 'post';
  if (history.isCancelled) return 'done';
  if (!history.finished && history.lastAttemptNum < attemptNum) {
    return isReplaced(message, history) ? 'done' : 'post';
  }
  return mark === 'resume_if_recorded' && history.lastAttemptNum === attemptNum ? 'resume' : 'done';
}

/**
 * Whether a person asked for this attempt at once, by another message. A message with the mark to resume is not replaced: while
 * a worker asked Postgres about it and then held it, it may have taken the place of the other message.
 */
function isReplaced(
  { attemptNum, notBefore, mark }: { attemptNum: number; notBefore: number; mark: DuplicateMark | undefined },
  { retryNow }: DeliveryHistory,
): boolean {
  if (mark === 'resume_if_recorded') return false;
  return retryNow?.attemptNum === attemptNum && retryNow.notBefore !== notBefore;
}
