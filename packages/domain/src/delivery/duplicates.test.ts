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
    finished: lastStatus === 'delivered' || lastStatus === 'dead_lettered',
    lastAttemptNum,
    lastStatus: lastAttemptNum === 0 ? null : lastStatus,
    lastError: null,
    nextAttemptAt: null,
  };
}

const message = { attemptNum: 2, mark: undefined, history: history(1), isInFlightHere: false } as const;

describe('a message that asks before it is posted', () => {
  it.each([undefined, 'done_if_recorded', 'resume_if_recorded'] as const)(
    'is posted where its attempt has no row (mark %s)',
    (mark) => {
      expect(answerDuplicate({ ...message, mark })).toBe('post');
      expect(answerDuplicate({ ...message, mark, attemptNum: 1, history: history(0) })).toBe('post');
    },
  );

  it('is posted while Postgres is unavailable', () => {
    const unavailable = { ...message, mark: 'resume_if_recorded', history: undefined } as const;
    expect(answerDuplicate(unavailable)).toBe('post');
  });

  it.each(['failed', 'delivered', 'dead_lettered'] as const)(
    'is done where its attempt is recorded as %s, unless it was redelivered',
    (status) => {
      const recorded = { ...message, history: history(2, status) };
      expect(answerDuplicate(recorded)).toBe('done');
      expect(answerDuplicate({ ...recorded, mark: 'done_if_recorded' })).toBe('done');
      expect(answerDuplicate({ ...recorded, mark: 'resume_if_recorded' })).toBe('resume');
    },
  );

  it('is done where a later attempt is recorded: the follow-up of this one was done', () => {
    const later = { ...message, mark: 'resume_if_recorded', history: history(3) } as const;
    expect(answerDuplicate(later)).toBe('done');
  });

  it('is done where the delivery is finished', () => {
    expect(answerDuplicate({ ...message, attemptNum: 3, history: history(2, 'delivered') })).toBe('done');
  });

  it('is busy while another message of the delivery is in flight in the same worker', () => {
    expect(answerDuplicate({ ...message, isInFlightHere: true })).toBe('busy');
    const recorded = { ...message, mark: 'resume_if_recorded', history: history(2) } as const;
    expect(answerDuplicate({ ...recorded, isInFlightHere: true })).toBe('busy');
  });
});

describe('the mark of a message', () => {
  it('asks the worker to resume after a redelivery, whatever the message carries', () => {
    for (const mark of [undefined, 'done_if_recorded', 'resume_if_recorded'] as const) {
      expect(markOnReceipt(mark, { redelivered: true })).toBe('resume_if_recorded');
      expect(markOnReceipt(mark, { redelivered: false })).toBe(mark);
    }
  });

  it('keeps the duty to resume when the message is published again', () => {
    expect(markWhenPublishedAgain('resume_if_recorded')).toBe('resume_if_recorded');
    expect(markWhenPublishedAgain(undefined)).toBe('done_if_recorded');
  });

  it('is on the next attempt only where another worker may have published that attempt', () => {
    expect(markOfNextAttempt({ isResumed: true })).toBe('done_if_recorded');
    expect(markOfNextAttempt({ isResumed: false })).toBeUndefined();
  });

  it('makes a first attempt ask; a later attempt always asks', () => {
    expect(mustAskHistory({ mark: undefined, attemptNum: 1 })).toBe(false);
    expect(mustAskHistory({ mark: 'done_if_recorded', attemptNum: 1 })).toBe(true);
    expect(mustAskHistory({ mark: undefined, attemptNum: 2 })).toBe(true);
  });
});
