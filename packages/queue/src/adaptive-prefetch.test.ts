import { describe, expect, it } from 'vitest';
import { AdaptivePrefetch } from './adaptive-prefetch.ts';

const kib = 1_024;
const tenMinutes = 600_000;

describe('the adaptive prefetch of a consumer', () => {
  it('a consumer has its whole prefetch while messages are of the size that the queue is for', () => {
    const prefetch = new AdaptivePrefetch(100, 32 * kib);
    for (let held = 1; held <= 100; held += 1) prefetch.received(32 * kib, held * 32 * kib, 0);
    expect(prefetch.at(0)).toBe(100);
  });

  it('a consumer keeps its prefetch for a few larger messages', () => {
    const prefetch = new AdaptivePrefetch(100, 32 * kib);
    prefetch.received(1_024 * kib, 1_024 * kib, 0);
    expect(prefetch.at(0)).toBe(100);
  });

  it('a prefetch is reduced to the larger messages that fit into its bytes, until ten minutes after the last of them', () => {
    const prefetch = new AdaptivePrefetch(100, 32 * kib);
    prefetch.received(1_024 * kib, 3_300 * kib, 0);
    expect(prefetch.at(0)).toBe(3);
    prefetch.received(40 * kib, 40 * kib, 500_000);
    expect(prefetch.at(500_000 + tenMinutes - 1)).toBe(3);
    expect(prefetch.at(500_000 + tenMinutes)).toBe(100);
  });

  it('a reduced prefetch is one message at least', () => {
    const prefetch = new AdaptivePrefetch(2, kib);
    prefetch.received(64 * kib, 64 * kib, 0);
    expect(prefetch.at(0)).toBe(1);
  });
});
