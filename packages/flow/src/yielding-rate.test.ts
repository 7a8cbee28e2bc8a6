import { describe, expect, it } from 'vitest';
import { afterWindow, initialYieldingRate, type YieldingRate } from './yielding-rate.ts';

const t0 = 1_700_000_040_000;

function after(delays: readonly number[], rate: YieldingRate = initialYieldingRate, from = t0): YieldingRate {
  return delays.reduce((sum, delayMs, index) => afterWindow(sum, { delayMs, now: from + index * 250 }), rate);
}

describe('the rate of background work', () => {
  it('the rate of background work rises while the foreground work is not delayed', () => {
    expect(after(Array(40).fill(4)).perSecond).toBeGreaterThan(1_000);
  });

  it('the rate of background work falls at once when the foreground work is delayed, but not below its floor', () => {
    const fast = after(Array(40).fill(4));
    expect(after([9], fast, t0 + 10_000).perSecond).toBeLessThan(fast.perSecond * 0.75);
    expect(after(Array(100).fill(50), fast, t0 + 10_000).perSecond).toBe(200);
  });

  it('a minute of disturbance is not taken for the undisturbed delay', () => {
    const disturbed = after(Array(400).fill(40), after(Array(8).fill(4)));
    expect(disturbed.perSecond).toBe(200);
    expect(after([4, 4, 4, 4], disturbed, t0 + 120_000).perSecond).toBeGreaterThan(200);
  });

  it('the rate of background work recovers when the foreground work stays slower for ten minutes', () => {
    let rate = after(Array(8).fill(4));
    for (let minute = 1; minute <= 11; minute += 1) rate = after([9, 9, 9], rate, t0 + minute * 60_000);
    expect(rate.perSecond).toBeGreaterThan(200);
    expect(after([9, 9, 9], rate, t0 + 12 * 60_000).perSecond).toBeGreaterThan(rate.perSecond);
  });
});
