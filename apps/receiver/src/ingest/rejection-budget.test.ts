import { describe, expect, it } from 'vitest';
import { createRejectionBudget } from './rejection-budget.ts';

const granted = (budget: (now: number) => boolean, now: number, asked: number) =>
  Array.from({ length: asked }, () => budget(now)).filter(Boolean).length;

describe('a budget of 20 a second and 200 at once', () => {
  it('a rejection budget grants its burst and no more', () => {
    const budget = createRejectionBudget(20, 200);
    expect(granted(budget, 1_000, 500)).toBe(200);
  });

  it('a rejection budget refills with time, up to its burst', () => {
    const budget = createRejectionBudget(20, 200);
    granted(budget, 1_000, 500);
    expect(granted(budget, 1_500, 500)).toBe(10);
    expect(granted(budget, 1_000_000, 500)).toBe(200);
  });

  it('a rejection budget grants its burst and its rate and no more, however often it is asked', () => {
    const budget = createRejectionBudget(20, 200);
    let count = 0;
    for (let now = 0; now <= 10_000; now += 1) count += granted(budget, now, 3);
    expect(count).toBe(400);
  });

  it('a rejection budget grants nothing when the clock is set back', () => {
    const budget = createRejectionBudget(20, 200);
    granted(budget, 10_000, 200);
    expect(granted(budget, 5_000, 10)).toBe(0);
  });
});
