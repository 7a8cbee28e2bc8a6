import { expect, it, vi } from 'vitest';
import { throttle } from './throttle.ts';

it('many calls run at once and once more at the end of the interval', () => {
  vi.useFakeTimers();
  let runs = 0;
  const throttled = throttle(() => (runs += 1), 1_000);
  for (let call = 0; call < 50; call += 1) throttled();
  expect(runs).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(runs).toBe(2);
  vi.advanceTimersByTime(5_000);
  expect(runs).toBe(2);
  throttled();
  expect(runs).toBe(3);
  throttled.cancel();
  vi.useRealTimers();
});
