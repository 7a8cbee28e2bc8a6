/**
 * A message may be a duplicate: another message of the same delivery and attempt may exist, so its worker asks Postgres before
 * it posts. The value is the answer where the attempt is already recorded:
 * `done_if_recorded` for a message that was published again. The worker of the other message owns the follow-up.
 * `resume_if_recorded` for a redelivered message. The worker that had it may have crashed between the row and the follow-up.
 */
export type DuplicateMark = 'done_if_recorded' | 'resume_if_recorded';

/** The attempts of a delivery that Postgres has recorded. */
export type DeliveryHistory = {
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
 * did it. `busy`: another message of the delivery is in flight in this worker, ask again later.
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
  mark: DuplicateMark | undefined;
  history: DeliveryHistory | undefined;
  isInFlightHere: boolean;
}): DuplicateAnswer {
  const { attemptNum, mark, history } = message;
  if (message.isInFlightHere) return 'busy';
  if (!history || (!history.finished && history.lastAttemptNum < attemptNum)) return 'post';
  return mark === 'resume_if_recorded' && history.lastAttemptNum === attemptNum ? 'resume' : 'done';
}
