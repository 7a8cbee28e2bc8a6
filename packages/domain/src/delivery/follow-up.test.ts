import { describe, expect, it } from 'vitest';
import { followUpOf, recordedFollowUp, type FollowUp } from './follow-up.ts';

const now = 1_800_000_000_000;
const failed = { kind: 'failed', statusCode: 500, error: 'HTTP 500' } as const;
const gone = { kind: 'gone', statusCode: 410, error: 'HTTP 410' } as const;

function followUp(changes: Partial<Parameters<typeof followUpOf>[0]> = {}): FollowUp {
  return followUpOf({
    outcome: failed,
    schedule: ['5s', '30s', '1h'],
    attemptNum: 1,
    now,
    random: () => 0,
    ...changes,
  });
}

function retryDelayMs(changes: Parameters<typeof followUp>[0]): number {
  const next = followUp(changes);
  if (next.kind !== 'retry') throw new Error(`no retry: ${next.kind}`);
  return next.nextAttemptAt - now;
}

describe('the follow-up of an attempt', () => {
  it.each([1, 4, 99])('attempt %i has no follow-up when it is delivered', (attemptNum) => {
    const outcome = { kind: 'delivered', statusCode: 204 } as const;
    expect(followUp({ outcome, attemptNum })).toEqual({ kind: 'none' });
  });

  it.each([1, 4])('an answer of 410 to attempt %i disables the endpoint', (attemptNum) => {
    const reason = expect.stringContaining('410') as string;
    expect(followUp({ outcome: gone, attemptNum })).toEqual({ kind: 'disable_endpoint', reason });
  });

  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 3_600_000],
  ])('failed attempt %i is followed by a retry %i ms after its end', (attemptNum, delayMs) => {
    expect(retryDelayMs({ attemptNum })).toBe(delayMs);
  });

  it.each([4, 5, 99])('a delivery whose last attempt %i fails becomes a dead letter', (attemptNum) => {
    const reason = `HTTP 500 at attempt ${attemptNum}, the last`;
    expect(followUp({ attemptNum })).toEqual({ kind: 'dead_letter', reason });
  });

  it('a delivery with an empty schedule becomes a dead letter when its first attempt fails', () => {
    expect(followUp({ schedule: [] })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([
    ['a longer Retry-After makes the retry later', 7_000, 7_000],
    ['a shorter Retry-After does not make the retry earlier', 1_000, 5_000],
    ['a Retry-After of 0 does not change the retry', 0, 5_000],
    ['Retry-After delays a retry by at most an hour or the longest delay', 86_400_000, 3_600_000],
  ])('%s', (_title, retryAfterMs, delayMs) => {
    expect(retryDelayMs({ outcome: { ...failed, retryAfterMs } })).toBe(delayMs);
  });

  it('a delivery at the end of its schedule becomes a dead letter, whatever Retry-After says', () => {
    const outcome = { ...failed, retryAfterMs: 60_000 };
    expect(followUp({ outcome, attemptNum: 4 })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([0, 0.25, 0.999_999])(
    'a retry is never earlier than the schedule says, and at most 10 %% later (random %f)',
    (random) => {
      for (const schedule of [['1s'], ['5s'], ['30s'], ['1h'], ['48h']]) {
        const exactMs = retryDelayMs({ schedule });
        const jitteredMs = retryDelayMs({ schedule, random: () => random });
        expect(jitteredMs).toBeGreaterThanOrEqual(exactMs);
        expect(jitteredMs).toBeLessThanOrEqual(exactMs * 1.1 + 1);
        expect(Number.isInteger(jitteredMs)).toBe(true);
      }
    },
  );

  it('two attempts that fail together are retried at different times after a delay of a minute', () => {
    const [early, late] = [0, 0.9].map((random) => retryDelayMs({ schedule: ['1m'], random: () => random }));
    expect(early).not.toBe(late);
  });
});

describe('the follow-up of a recorded attempt', () => {
  const history = {
    isCancelled: false,
    retryNow: null,
    finished: false,
    lastAttemptNum: 2,
    lastError: 'HTTP 500',
    nextAttemptAt: null,
  };

  it.each([
    ['none after a delivered attempt', { lastStatus: 'delivered', finished: true }, { kind: 'none' }],
    [
      'the retry at the recorded time',
      { lastStatus: 'failed', nextAttemptAt: now },
      { kind: 'retry', nextAttemptAt: now },
    ],
    [
      'the dead letter with the same reason',
      { lastStatus: 'dead_lettered', finished: true },
      followUp({ attemptNum: 2, schedule: ['1s'] }),
    ],
    [
      'to disable the endpoint when a failed attempt has no next one',
      { lastStatus: 'failed' },
      followUp({ outcome: gone }),
    ],
  ] as const)('the follow-up of a recorded attempt is %s', (_title, row, expected) => {
    expect(recordedFollowUp({ ...history, ...row })).toEqual(expected);
  });
});
