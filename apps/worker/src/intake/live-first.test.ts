import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveFirst } from './live-first.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_040_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Asks for turns, and counts those that are given and those that are refused. */
function ask(liveFirst: LiveFirst, count: number, endpointId = 'a'): { come: number; refused: number } {
  const turns = { come: 0, refused: 0 };
  for (let asked = 0; asked < count; asked += 1) {
    void liveFirst.turn(endpointId).then((isTurn) => {
      if (isTurn) turns.come += 1;
      else turns.refused += 1;
    });
  }
  return turns;
}

/** Dispatches 40 new webhooks within a second, each `delayMs` after its receipt. */
async function liveSecond(liveFirst: LiveFirst, delayMs: number): Promise<void> {
  for (let each = 0; each < 40; each += 1) {
    liveFirst.live(Date.now() - delayMs);
    await vi.advanceTimersByTimeAsync(25);
  }
}

describe('a retry', () => {
  it('a retry gets its turn at once while no new webhook arrives', async () => {
    const turns = ask(new LiveFirst(Date.now), 10_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(turns.come).toBe(10_000);
  });

  it('retries beside new webhooks get their turns a few at a time, never in a burst', async () => {
    const liveFirst = new LiveFirst(Date.now);
    await liveSecond(liveFirst, 4);
    const turns = ask(liveFirst, 10_000);
    await vi.advanceTimersByTimeAsync(100);
    expect(turns.come).toBeGreaterThan(15);
    expect(turns.come).toBeLessThan(60);
  });

  it('retries wait longer when new webhooks take longer than before, and still get turns', async () => {
    const liveFirst = new LiveFirst(Date.now);
    for (let seconds = 0; seconds < 10; seconds += 1) await liveSecond(liveFirst, 4);
    const quick = ask(liveFirst, 10_000);
    await liveSecond(liveFirst, 4);
    const before = quick.come;
    for (let seconds = 0; seconds < 5; seconds += 1) await liveSecond(liveFirst, 20);
    const slowFrom = quick.come;
    await liveSecond(liveFirst, 20);
    expect(quick.come - slowFrom).toBeLessThan(before / 2);
    expect(quick.come - slowFrom).toBeGreaterThan(100);
  });

  it('retries that waited get their turns when new webhooks stop', async () => {
    const liveFirst = new LiveFirst(Date.now);
    await liveSecond(liveFirst, 4);
    const turns = ask(liveFirst, 10_000);
    await vi.advanceTimersByTimeAsync(5_100);
    expect(turns.come).toBe(10_000);
  });

  it('a retry gets its turn before the hundreds of another endpoint that wait already', async () => {
    const liveFirst = new LiveFirst(Date.now);
    await liveSecond(liveFirst, 4);
    const slow = ask(liveFirst, 400, 'slow');
    const other = ask(liveFirst, 1, 'other');
    await vi.advanceTimersByTimeAsync(100);
    expect(other.come).toBe(1);
    expect(slow.come).toBeLessThan(60);
  });

  it('a retry that waits is refused when the worker stops', async () => {
    const liveFirst = new LiveFirst(Date.now);
    await liveSecond(liveFirst, 4);
    const turns = ask(liveFirst, 1_000);
    liveFirst.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(turns.refused).toBe(1_000);
    expect(await liveFirst.turn('a')).toBe(false);
  });
});
