import { expect, it } from 'vitest';
import { RequestRate } from './request-rate.ts';

it('a caller may send a burst, then as many requests per second as the rate, and does not slow another caller', () => {
  const rate = new RequestRate({ perSecond: 2, burst: 3 });
  expect([1, 2, 3, 4].map(() => rate.take('a', 0))).toEqual([0, 0, 0, 500]);
  expect(rate.take('b', 0)).toBe(0);
  expect(rate.take('a', 499)).toBeGreaterThan(0);
  expect(rate.take('a', 1_000)).toBe(0);
});

it('asking how long to wait takes nothing', () => {
  const rate = new RequestRate({ perSecond: 1, burst: 1 });
  expect(rate.waitOf('a', 0)).toBe(0);
  expect(rate.take('a', 0)).toBe(0);
  expect(rate.waitOf('a', 0)).toBe(1_000);
  expect(rate.waitOf('a', 0)).toBe(1_000);
});

it('a clock that goes back gives no tokens and takes none', () => {
  const rate = new RequestRate({ perSecond: 1, burst: 1 });
  expect(rate.take('a', 10_000)).toBe(0);
  expect(rate.waitOf('a', 5_000)).toBe(1_000);
});
