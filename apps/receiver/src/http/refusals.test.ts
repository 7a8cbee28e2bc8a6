import { describe, expect, it } from 'vitest';
import { Refusals } from './refusals.ts';

/** The bound at each second of an outage. */
function outage(refusals: Refusals, from: number, seconds: number): number[] {
  return Array.from({ length: seconds }, (_, second) => refusals.retryAfterMaxSeconds(from + second * 1_000));
}

describe('the bound of Retry-After', () => {
  it('the bound of Retry-After grows with the outage, up to a minute', () => {
    const bounds = outage(new Refusals(), 5_000, 90);
    expect(bounds.slice(0, 4)).toEqual([4, 5, 6, 7]);
    expect(bounds.at(-1)).toBe(60);
  });

  it('the bound of Retry-After is four seconds again in the next outage', () => {
    const refusals = new Refusals();
    outage(refusals, 0, 30);
    expect(refusals.retryAfterMaxSeconds(29_000 + 5_000)).toBe(38);
    expect(refusals.retryAfterMaxSeconds(34_000 + 5_001)).toBe(4);
  });
});
