import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSpacedCalls } from './spaced-calls.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Has `count` calls made, and lists those that were. */
function call(spaced: (each: () => void) => void, count: number): number[] {
  const made: number[] = [];
  for (let number = 1; number <= count; number += 1) spaced(() => made.push(number));
  return made;
}

describe('spaced calls', () => {
  it('calls are made in order, the first at once and each other 5 ms after the one before', () => {
    const made = call(createSpacedCalls(5), 3);
    expect(made).toEqual([1]);
    vi.advanceTimersByTime(4);
    expect(made).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(made).toEqual([1, 2]);
    vi.advanceTimersByTime(5);
    expect(made).toEqual([1, 2, 3]);
  });

  it('a call less than 5 ms after the last one waits for the rest of that time', () => {
    const spaced = createSpacedCalls(5);
    call(spaced, 1);
    vi.advanceTimersByTime(3);
    const made = call(spaced, 1);
    vi.advanceTimersByTime(1);
    expect(made).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(made).toEqual([1]);
  });

  it('a call after a calm time is made at once, and no timer is left', () => {
    const spaced = createSpacedCalls(5);
    call(spaced, 1);
    vi.advanceTimersByTime(5);
    expect(vi.getTimerCount()).toBe(0);
    expect(call(spaced, 1)).toEqual([1]);
  });

  it('calls that wait do not keep a process alive', () => {
    vi.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    call(createSpacedCalls(5), 3);
    expect(timers()).toBe(before);
  });

  it('a call that throws does not keep the next one from being made', () => {
    const spaced = createSpacedCalls(5);
    expect(() =>
      spaced(() => {
        throw new Error('a socket');
      }),
    ).toThrow('a socket');
    const made = call(spaced, 1);
    vi.advanceTimersByTime(5);
    expect(made).toEqual([1]);
  });
});
