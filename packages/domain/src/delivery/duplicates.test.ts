import { describe, expect, it } from 'vitest';
import {
  answerDuplicate,
  markOfNextAttempt,
  markOnReceipt,
  markWhenPublishedAgain,
  mustAskHistory,
  type DeliveryHistory,
} from './duplicates.ts';

function history(
  lastAttemptNum: number,
  lastStatus: DeliveryHistory['lastStatus'] = 'failed',
): DeliveryHistory {
  return {
    isCancelled: false,
    retryNow: null,
    finished: lastStatus === 'delivered' || lastStatus === 'dead_lettered',
    lastAttemptNum,
    lastStatus: lastAttemptNum === 0 ? null : lastStatus,
    lastError: null,
    nextAttemptAt: null,
  };
}

const message = {
  attemptNum: 2,
  notBefore: 5_000,
  mark: undefined,
  history: history(1),
  isInFlightHere: false,
} as const;

describe('a message that asks before it is posted', () => {
  it.each([undefined, 'done_if_recorded', 'resume_if_recorded'] as const)(
    'a message with the mark %s is posted when its attempt has no row',
    (mark) => {
      expect(answerDuplicate({ ...message, mark })).toBe('post');
      expect(answerDuplicate({ ...message, mark, attemptNum: 1, history: history(0) })).toBe('post');
    },
  );

  it('a message is posted while Postgres is unavailable', () => {
    const unavailable = { ...message, mark: 'resume_if_recorded', history: undefined } as const;
    expect(answerDuplicate(unavailable)).toBe('post');
  });

  it.each(['failed', 'delivered', 'dead_lettered'] as const)(
    'a message whose attempt is recorded as %s is done, or resumed if it was redelivered',
    (status) => {
      const recorded = { ...message, history: history(2, status) };
      expect(answerDuplicate(recorded)).toBe('done');
      expect(answerDuplicate({ ...recorded, mark: 'done_if_recorded' })).toBe('done');
      expect(answerDuplicate({ ...recorded, mark: 'resume_if_recorded' })).toBe('resume');
    },
  );

  it('a message is done when a later attempt is recorded, even if it was redelivered', () => {
    const later = { ...message, mark: 'resume_if_recorded', history: history(3) } as const;
    expect(answerDuplicate(later)).toBe('done');
  });

  it('a message of a finished delivery is done', () => {
    expect(answerDuplicate({ ...message, attemptNum: 3, history: history(2, 'delivered') })).toBe('done');
  });

  it('a message of a cancelled delivery is done, even if it was redelivered', () => {
    for (const lastAttemptNum of [0, 1, 2, 3]) {
      const cancelled = { ...message, history: { ...history(lastAttemptNum), isCancelled: true } };
      expect(answerDuplicate(cancelled)).toBe('done');
      expect(answerDuplicate({ ...cancelled, mark: 'resume_if_recorded' })).toBe('done');
    }
  });

  it('a message is done when a person asked for its attempt at once, and the message of that attempt is posted', () => {
    const retryNow = { attemptNum: 2, notBefore: 4_000 };
    const asked = { ...message, history: { ...history(1), retryNow } };
    expect(answerDuplicate(asked)).toBe('done');
    expect(answerDuplicate({ ...asked, mark: 'done_if_recorded' })).toBe('done');
    expect(answerDuplicate({ ...asked, notBefore: 4_000, mark: 'done_if_recorded' })).toBe('post');
    expect(answerDuplicate({ ...asked, attemptNum: 3, history: { ...history(2), retryNow } })).toBe('post');
  });

  it('a redelivered message is posted although a person asked for its attempt at once', () => {
    const retryNow = { attemptNum: 2, notBefore: 4_000 };
    const redelivered = {
      ...message,
      mark: 'resume_if_recorded',
      history: { ...history(1), retryNow },
    } as const;
    expect(answerDuplicate(redelivered)).toBe('post');
  });

  it('a message is busy while another message of its delivery is in flight in the same worker', () => {
    expect(answerDuplicate({ ...message, isInFlightHere: true })).toBe('busy');
    const recorded = { ...message, mark: 'resume_if_recorded', history: history(2) } as const;
    expect(answerDuplicate({ ...recorded, isInFlightHere: true })).toBe('busy');
  });
});

describe('the mark of a message', () => {
  it('a redelivered message is marked resume_if_recorded, and any other message keeps its mark', () => {
    for (const mark of [undefined, 'done_if_recorded', 'resume_if_recorded'] as const) {
      expect(markOnReceipt(mark, { redelivered: true })).toBe('resume_if_recorded');
      expect(markOnReceipt(mark, { redelivered: false })).toBe(mark);
    }
  });

  it('a message published again keeps resume_if_recorded, and an unmarked one gets done_if_recorded', () => {
    expect(markWhenPublishedAgain('resume_if_recorded')).toBe('resume_if_recorded');
    expect(markWhenPublishedAgain(undefined)).toBe('done_if_recorded');
  });

  it('the message of the next attempt is marked only when a resumed worker publishes it', () => {
    expect(markOfNextAttempt({ isResumed: true })).toBe('done_if_recorded');
    expect(markOfNextAttempt({ isResumed: false })).toBeUndefined();
  });

  it('a first attempt asks for the history only if its message is marked, and a later one always asks', () => {
    expect(mustAskHistory({ mark: undefined, attemptNum: 1 })).toBe(false);
    expect(mustAskHistory({ mark: 'done_if_recorded', attemptNum: 1 })).toBe(true);
    expect(mustAskHistory({ mark: undefined, attemptNum: 2 })).toBe(true);
  });
});
