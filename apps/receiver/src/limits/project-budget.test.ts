import { describe, expect, it } from 'vitest';
import { createProjectBudget, type ProjectBudget } from './project-budget.ts';

const rates = {
  perProject: { perSecond: 5, burst: 50 },
  total: { perSecond: 20, burst: 200 },
  quiet: { perSecond: 20, burst: 200 },
};

const granted = (budget: ProjectBudget, projectId: string | null, now: number, asked: number) =>
  Array.from({ length: asked }, () => budget(projectId, now)).filter(Boolean).length;

describe('the budget of one project', () => {
  it('a rejection budget grants a project its burst and no more', () => {
    const budget = createProjectBudget(rates);
    expect(granted(budget, 'a', 1_000, 500)).toBe(50);
  });

  it('a rejection budget refills with time, up to its burst', () => {
    const budget = createProjectBudget(rates);
    granted(budget, 'a', 1_000, 500);
    expect(granted(budget, 'a', 3_000, 500)).toBe(10);
    expect(granted(budget, 'a', 1_000_000, 500)).toBe(50);
  });

  it('a rejection budget grants its burst and its rate and no more, however often it is asked', () => {
    const budget = createProjectBudget(rates);
    let count = 0;
    for (let now = 0; now <= 10_000; now += 1) count += granted(budget, 'a', now, 3);
    expect(count).toBe(100);
  });

  it('a rejection budget grants nothing when the clock is set back', () => {
    const budget = createProjectBudget(rates);
    granted(budget, 'a', 10_000, 50);
    expect(granted(budget, 'a', 5_000, 10)).toBe(0);
  });
});

describe('the budget of all projects', () => {
  it('ids that are no project share the budget of one', () => {
    const budget = createProjectBudget(rates);
    expect(granted(budget, null, 1_000, 5_000)).toBe(50);
    expect(granted(budget, 'a', 1_000, 50)).toBe(50);
  });

  it('a flood at many projects is bounded in total, and leaves room for a project without rejections', () => {
    const budget = createProjectBudget(rates);
    let count = 0;
    for (let project = 0; project < 1_000; project += 1) count += granted(budget, `p${project}`, 1_000, 50);
    expect(count).toBe(400);

    const flood = createProjectBudget(rates);
    for (let project = 0; project < 20; project += 1) granted(flood, `p${project}`, 1_000, 500);
    expect(granted(flood, 'a project of its own', 1_000, 1)).toBe(1);
  });
});
