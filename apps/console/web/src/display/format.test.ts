import { expect, it } from 'vitest';
import { formatBytes, formatCount, formatShare, plural } from './number-format.ts';
import { formatDuration, formatRelative, formatTime, offsetOf } from './time-format.ts';

const at = Date.parse('2026-11-22T23:30:05.123Z');

it('a time is shown in the zone that was chosen, and its exact form names the zone', () => {
  expect(formatTime(at, 'moment', 'UTC')).toBe('22 Nov, 23:30:05');
  expect(formatTime(at, 'moment', 'Asia/Kolkata')).toBe('23 Nov, 05:00:05');
  expect(formatTime(at, 'exact', 'Asia/Kolkata')).toContain('05:00:05.123 GMT+5:30');
  expect(offsetOf('Asia/Kolkata', at)).toBe('UTC+5:30');
});

it('midnight is hour 00, not 24', () => {
  expect(formatTime('2026-11-22T00:00:00Z', 'minute', 'UTC')).toBe('00:00');
});

it('a relative time says past or future', () => {
  expect(formatRelative(at - 125_000, at)).toBe('2 min ago');
  expect(formatRelative(at + 3_600_000, at)).toBe('in 1 h');
  expect(formatRelative(at - 400, at)).toBe('now');
  expect(formatRelative(at + 4_000, at)).toBe('now');
  expect(formatRelative(at + 6_000, at)).toBe('in 6 s');
});

it('a duration never rounds up to sixty of a unit', () => {
  expect([34, 1_250, 59_960, 185_000, 7_199_000, 273_600_000].map(formatDuration)).toEqual([
    '34 ms',
    '1.3 s',
    '1 min',
    '3 min 5 s',
    '2 h',
    '3 d 4 h',
  ]);
});

it('a count that was capped says so', () => {
  expect(formatCount(10_000, true)).toBe('10,000+');
  expect(plural(1, 'delivery')).toBe('1 delivery');
  expect(plural(2, 'delivery')).toBe('2 deliveries');
});

it('a share is 100 % only when nothing failed, and a share of nothing is a dash', () => {
  expect([
    formatShare(5, 5),
    formatShare(99_999, 100_000),
    formatShare(0, 0),
    formatShare(1, 100_000),
  ]).toEqual(['100%', '>99.9%', '–', '<0.1%']);
});

it('bytes are counted in KiB', () => {
  expect([512, 1_536, 1_572_864].map(formatBytes)).toEqual(['512 B', '1.5 KiB', '1.5 MiB']);
});
