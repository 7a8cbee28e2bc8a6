import { describe, expect, it } from 'vitest';
import { Refusals } from './refusals.ts';

/** What each second of an outage is told. */
function outage(refusals: Refusals, from: number, seconds: number): number[] {
  return Array.from({ length: seconds }, (_, second) => refusals.stayAwayAtMost(from + second * 1_000));
}

describe('refused senders', () => {
  it('may be told to stay away the longer the outage lasts, a minute at most', () => {
    const told = outage(new Refusals(), 5_000, 90);
    expect(told.slice(0, 4)).toEqual([4, 5, 6, 7]);
    expect(told.at(-1)).toBe(60);
  });

  it('of another outage come back soon again', () => {
    const refusals = new Refusals();
    outage(refusals, 0, 30);
    expect(refusals.stayAwayAtMost(29_000 + 5_000)).toBe(38);
    expect(refusals.stayAwayAtMost(34_000 + 5_001)).toBe(4);
  });
});
