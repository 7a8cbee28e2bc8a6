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
  it.each([1, 4, 99])('is none after a delivered attempt, also the attempt %i', (attemptNum) => {
    const outcome = { kind: 'delivered', statusCode: 204 } as const;
    expect(followUp({ outcome, attemptNum })).toEqual({ kind: 'none' });
  });

  it.each([1, 4])('disables the endpoint after an answer of 410 to attempt %i', (attemptNum) => {
    const reason = expect.stringContaining('410') as string;
    expect(followUp({ outcome: gone, attemptNum })).toEqual({ kind: 'disable_endpoint', reason });
  });

  it.each([
    [1, 5_000],
    [2, 30_000],
    [3, 3_600_000],
  ])('is a retry after failed attempt %i, %i ms from its end', (attemptNum, delayMs) => {
    expect(retryDelayMs({ attemptNum })).toBe(delayMs);
  });

  it.each([4, 5, 99])('is a dead letter after failed attempt %i, past the schedule', (attemptNum) => {
    const reason = `HTTP 500 at attempt ${attemptNum}, the last`;
    expect(followUp({ attemptNum })).toEqual({ kind: 'dead_letter', reason });
  });

  it('is a dead letter after the first attempt of an empty schedule', () => {
    expect(followUp({ schedule: [] })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([
    ['is later for a longer Retry-After', 7_000, 7_000],
    ['is not earlier for a shorter Retry-After', 1_000, 5_000],
    ['is the same for a Retry-After of 0', 0, 5_000],
    ['is at most the longest delay of the schedule, or an hour, later', 86_400_000, 3_600_000],
  ])('%s', (_title, retryAfterMs, delayMs) => {
    expect(retryDelayMs({ outcome: { ...failed, retryAfterMs } })).toBe(delayMs);
  });

  it('is a dead letter at the end of the schedule, whatever Retry-After asks for', () => {
    const outcome = { ...failed, retryAfterMs: 60_000 };
    expect(followUp({ outcome, attemptNum: 4 })).toMatchObject({ kind: 'dead_letter' });
  });

  it.each([0, 0.25, 0.999_999])(
    'is never earlier than the schedule says, and at most 10 %% later (random %f)',
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

  it('spreads retries after a minute, so that two attempts that fail together are not repeated together', () => {
    const [early, late] = [0, 0.9].map((random) => retryDelayMs({ schedule: ['1m'], random: () => random }));
    expect(early).not.toBe(late);
  });
});

describe('the follow-up of a recorded attempt', () => {
  const history = { finished: false, lastAttemptNum: 2, lastError: 'HTTP 500', nextAttemptAt: null };

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
      'to disable the endpoint where a failed attempt has no next one',
      { lastStatus: 'failed' },
      followUp({ outcome: gone }),
    ],
  ] as const)('is %s', (_title, row, expected) => {
    expect(recordedFollowUp({ ...history, ...row })).toEqual(expected);
  });
});
