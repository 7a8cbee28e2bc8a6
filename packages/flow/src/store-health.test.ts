import { describe, expect, it } from 'vitest';
import { HealthTracker, type StoreState } from './store-health.ts';

describe('the health of a store', () => {
  it('the state of a store is "starting" until the client sets another', () => {
    const health = new HealthTracker(() => {});
    expect(health).toMatchObject({ state: 'starting', detail: undefined, isUp: false });
  });

  it('each change of the state of a store is reported once, and the last detail is kept', () => {
    const changes: [StoreState, string | undefined][] = [];
    const health = new HealthTracker((state, detail) => changes.push([state, detail]));
    health.change('up');
    health.change('blocked', 'memory alarm');
    health.change('blocked', 'disk alarm');
    expect(health).toMatchObject({ state: 'blocked', detail: 'disk alarm', isUp: false });
    health.change('up');
    expect(health).toMatchObject({ state: 'up', detail: undefined, isUp: true });
    expect(changes).toEqual([
      ['up', undefined],
      ['blocked', 'memory alarm'],
      ['up', undefined],
    ]);
  });

  it('the state of a store is dated from its beginning, not from its last detail', () => {
    const health = new HealthTracker(() => {});
    health.change('down', 'refused');
    const { since } = health;
    while (Date.now() === since);
    health.change('down', 'timed out');
    expect(health.since).toBe(since);
    health.change('up');
    expect(health.since).toBeGreaterThan(since);
  });
});
