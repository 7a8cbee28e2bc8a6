import { describe, expect, it } from 'vitest';
import {
  delayLadder,
  longestRung,
  nextDelayMs,
  parseDurationMs,
  parseRetryAfter,
  parseRetrySchedule,
} from './retry-schedule.ts';

const hourMs = 3_600_000;

describe('parseRetrySchedule', () => {
  it.each([
    ['hqrelay', ['5s', '30s', '5m', '30m', '1h']],
    ['omise', ['1m', '5m', '15m', '1h', '3h', '6h', '12h', '24h', '48h', '48h']],
    ['standard-webhooks', ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h']],
    ['1s,2s,4s', ['1s', '2s', '4s']],
    [' 1s , 48h ', ['1s', '48h']],
    ['10m', ['10m']],
    ['2d', ['2d']],
  ])('the retry schedule %j is parsed into its delays', (text, schedule) => {
    expect(parseRetrySchedule(text)).toEqual(schedule);
  });

  it('a change to a parsed preset does not change the preset', () => {
    parseRetrySchedule('hqrelay').pop();
    expect(parseRetrySchedule('hqrelay')).toHaveLength(5);
  });

  it('a retry schedule has at most 30 delays', () => {
    expect(parseRetrySchedule(Array(30).fill('1s').join())).toHaveLength(30);
    expect(() => parseRetrySchedule(Array(31).fill('1s').join())).toThrow('at most 30 delays, not 31');
  });

  it.each([
    ['', 'is not a retry schedule: use one of hqrelay, omise, standard-webhooks'],
    ['stripe', '"stripe" is not a retry schedule'],
    ['HQRELAY', 'is not a retry schedule'],
    ['0s', 'each is from 1s to 48h'],
    ['48h,49h', '"49h" is not a delay of a retry schedule: each is from 1s to 48h'],
    ['999999999h', 'each is from 1s to 48h'],
    ['1s,,2s', 'is not a duration'],
    ['1s,', 'is not a duration'],
    ['1.5s', 'is not a duration'],
    ['1', 'is not a duration'],
    ['5 s', 'is not a duration'],
    ['5S', 'is not a duration'],
    ['-5s', 'is not a retry schedule'],
    ['1e3s', 'is not a duration'],
    ['٣s', 'is not a retry schedule'],
    ['5s\0', 'is not a duration'],
  ])('the retry schedule %j is refused with the reason', (text, message) => {
    expect(() => parseRetrySchedule(text)).toThrow(RangeError);
    expect(() => parseRetrySchedule(text)).toThrow(message);
  });

  it('the error about a huge retry schedule is short', () => {
    const message = messageOf(() => parseRetrySchedule('9'.repeat(1_000_000)));
    expect(message.length).toBeLessThan(200);
  });
});

describe('parseDurationMs', () => {
  it.each([
    ['0s', 0],
    ['5s', 5_000],
    ['30m', 1_800_000],
    ['48h', 172_800_000],
    ['7d', 604_800_000],
    ['007s', 7_000],
  ])('the duration %s is parsed into milliseconds', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each(['', 's', '5', '5ms', '5 m', '5m ', '5w', '+5m', '0x5s', '5m\n', '1h30m', '9999999999s'])(
    'the duration %j is refused',
    (text) => {
      expect(() => parseDurationMs(text)).toThrow(RangeError);
    },
  );
});

describe('nextDelayMs', () => {
  const schedule = ['5s', '30s', '5m'];

  it('the delay after attempt n is the nth delay of the schedule', () => {
    const delays = [1, 2, 3].map((attemptNum) => nextDelayMs({ schedule, attemptNum }));
    expect(delays).toEqual([5_000, 30_000, 300_000]);
  });

  it('no delay follows the last attempt of a schedule, whatever Retry-After says', () => {
    expect(nextDelayMs({ schedule, attemptNum: 4 })).toBeNull();
    expect(nextDelayMs({ schedule, attemptNum: 1_000_000 })).toBeNull();
    expect(nextDelayMs({ schedule: [], attemptNum: 1 })).toBeNull();
    expect(nextDelayMs({ schedule: [], attemptNum: 1, retryAfterMs: 5_000 })).toBeNull();
  });

  it('a longer Retry-After lengthens the delay', () => {
    expect(nextDelayMs({ schedule, attemptNum: 1, retryAfterMs: 60_000 })).toBe(60_000);
  });

  it('a shorter Retry-After does not shorten the delay', () => {
    expect(nextDelayMs({ schedule, attemptNum: 3, retryAfterMs: 1_000 })).toBe(300_000);
  });

  it('Retry-After lengthens a delay to at most one hour when every delay of the schedule is shorter', () => {
    const retryAfterMs = 9_999_999_999_000;
    expect(nextDelayMs({ schedule, attemptNum: 1, retryAfterMs })).toBe(hourMs);
  });

  it('Retry-After lengthens a delay to at most the longest delay of a schedule that exceeds one hour', () => {
    const long = ['1m', '48h'];
    const retryAfterMs = Number.POSITIVE_INFINITY;
    expect(nextDelayMs({ schedule: long, attemptNum: 1, retryAfterMs })).toBe(48 * hourMs);
  });

  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])('a Retry-After of %s is ignored', (retryAfterMs) => {
    expect(nextDelayMs({ schedule, attemptNum: 1, retryAfterMs })).toBe(5_000);
  });

  it.each([0, -1, 1.5, Number.NaN])('attempt %s is refused, as attempts count from 1', (attemptNum) => {
    expect(() => nextDelayMs({ schedule, attemptNum })).toThrow(RangeError);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);

  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 120 ', 120_000],
    ['9999999999', 9_999_999_999_000],
  ])('a Retry-After of %j is read as seconds', (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });

  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'the Retry-After date %s is read as the time from now until then',
    (value) => {
      expect(parseRetryAfter(value, now)).toBe(30_000);
    },
  );

  it('a Retry-After date in the past is read as 0', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now + 1_000_000)).toBe(0);
  });

  it.each([
    undefined,
    '',
    '-1',
    '+5',
    '1.5',
    '1e9',
    'NaN',
    'Infinity',
    '0x10',
    '99999999999',
    '9'.repeat(100_000),
    '120, 120',
    'soon',
    '1994-11-06T08:49:37Z',
    'Sun, 99 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 PST',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    '12\0',
    '٣',
  ])('an invalid Retry-After of %j is ignored', (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });
});

describe('the delay ladder', () => {
  it('the delay ladder rises, and the name of each rung is its length', () => {
    const lengths = delayLadder.map((rung) => rung.ms);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    for (const rung of delayLadder) expect(parseDurationMs(rung.name)).toBe(rung.ms);
  });

  it.each([
    [0, '1s'],
    [-5_000, '1s'],
    [Number.NaN, '1s'],
    [999, '1s'],
    [1_000, '1s'],
    [1_999, '1s'],
    [2_000, '2s'],
    [59_999, '30s'],
    [60_000, '1m'],
    [hourMs - 1, '30m'],
    [hourMs, '1h'],
    [48 * hourMs, '1h'],
    [Number.POSITIVE_INFINITY, '1h'],
  ])('a message with %s ms left to wait goes to the rung %s', (remainingMs, name) => {
    expect(longestRung(remainingMs).name).toBe(name);
  });
});

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('nothing was thrown');
}
