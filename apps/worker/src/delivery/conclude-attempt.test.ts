import { describe, expect, it } from 'vitest';
import { concludeAttempt, concludedBefore } from './conclude-attempt.ts';

const now = 1_800_000_000_000;
const failed = { kind: 'failed', statusCode: 500, error: 'HTTP 500' } as const;
const conclude = (changes: Partial<Parameters<typeof concludeAttempt>[0]>) =>
  concludeAttempt({
    outcome: failed,
    schedule: ['5s', '30s', '1h'],
    attemptNum: 1,
    now,
    random: () => 0,
    ...changes,
  });

describe('an attempt', () => {
  it('that was delivered concludes the delivery, whichever it was', () => {
    const outcome = { kind: 'delivered', statusCode: 204 } as const;
    for (const attemptNum of [1, 4, 99]) {
      expect(conclude({ outcome, attemptNum })).toEqual({ kind: 'delivered' });
    }
  });

  it('that was answered with 410 is not retried, however much of the schedule is left', () => {
    const outcome = { kind: 'gone', statusCode: 410, error: 'HTTP 410' } as const;
    for (const attemptNum of [1, 4]) {
      expect(conclude({ outcome, attemptNum })).toEqual({
        kind: 'gone',
        reason: expect.stringContaining('410') as string,
      });
    }
  });

  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 3_600_000],
  ])('number %i that failed is followed by the next after %i ms from its end', (attemptNum, delayMs) => {
    expect(conclude({ attemptNum })).toEqual({ kind: 'retry', nextAttemptAt: now + delayMs });
  });

  it.each([4, 5, 99])(
    'number %i that failed, with nothing left of the schedule, is the last',
    (attemptNum) => {
      const conclusion = conclude({ attemptNum });
      expect(conclusion).toEqual({
        kind: 'dead_letter',
        reason: `HTTP 500 at attempt ${attemptNum}, the last`,
      });
    },
  );

  it('without a schedule is the only one', () => {
    expect(conclude({ schedule: [] })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([
    ['lengthens a delay', 7_000, 7_000],
    ['does not shorten one', 1_000, 5_000],
    ['of 0 changes nothing', 0, 5_000],
    ['counts up to the longest delay of the schedule, or an hour', 86_400_000, 3_600_000],
  ])('a Retry-After %s', (_what, retryAfterMs, delayMs) => {
    expect(conclude({ outcome: { ...failed, retryAfterMs } })).toEqual({
      kind: 'retry',
      nextAttemptAt: now + delayMs,
    });
  });

  it('a Retry-After does not outlive the schedule', () => {
    const outcome = { ...failed, retryAfterMs: 60_000 };
    expect(conclude({ outcome, attemptNum: 4 })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([0, 0.25, 0.999_999])(
    'is never followed earlier than promised, nor by more than 10 %% later (%f)',
    (random) => {
      for (const schedule of [['1s'], ['5s'], ['30s'], ['1h'], ['48h']]) {
        const exact = conclude({ schedule });
        const jittered = conclude({ schedule, random: () => random });
        if (exact.kind !== 'retry' || jittered.kind !== 'retry') throw new Error('no retry');
        const delayMs = exact.nextAttemptAt - now;
        expect(jittered.nextAttemptAt - now).toBeGreaterThanOrEqual(delayMs);
        expect(jittered.nextAttemptAt - now).toBeLessThanOrEqual(delayMs * 1.1 + 1);
        expect(Number.isInteger(jittered.nextAttemptAt)).toBe(true);
      }
    },
  );

  it('of a delay of a minute is spread: two that failed together are not repeated together', () => {
    const [early, late] = [0, 0.9].map((random) => conclude({ schedule: ['1m'], random: () => random }));
    expect(early).not.toEqual(late);
  });
});

describe('what an attempt led to, told by its row,', () => {
  const history = { finished: false, lastAttemptNum: 2, lastError: 'HTTP 500', nextAttemptAt: null };

  it.each([
    ['delivered', { lastStatus: 'delivered', finished: true }, { kind: 'delivered' }],
    [
      'a retry when it said it would be',
      { lastStatus: 'failed', nextAttemptAt: now },
      { kind: 'retry', nextAttemptAt: now },
    ],
    [
      'a dead letter, for the same reason',
      { lastStatus: 'dead_lettered', finished: true },
      conclude({ attemptNum: 2, schedule: ['1s'] }),
    ],
    [
      'a gone endpoint where nothing was to follow',
      { lastStatus: 'failed' },
      conclude({ outcome: { kind: 'gone', statusCode: 410, error: 'HTTP 410' } }),
    ],
  ] as const)('is %s', (_what, row, conclusion) => {
    expect(concludedBefore({ ...history, ...row })).toEqual(conclusion);
  });
});
