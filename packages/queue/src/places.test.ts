import { describe, expect, it } from 'vitest';
import { Places } from './places.ts';

const kib = 1_024;
const tenMinutes = 600_000;

describe('the places of a consumer', () => {
  it('a consumer has its whole prefetch while messages are of the size that the queue is for', () => {
    const places = new Places(100, 32 * kib);
    for (let held = 1; held <= 100; held += 1) places.received(32 * kib, held * 32 * kib, 0);
    expect(places.at(0)).toBe(100);
  });

  it('a consumer keeps its prefetch for a few larger messages', () => {
    const places = new Places(100, 32 * kib);
    places.received(1_024 * kib, 1_024 * kib, 0);
    expect(places.at(0)).toBe(100);
  });

  it('a consumer has as many places as larger messages fit into its bytes, until ten minutes after the last of them', () => {
    const places = new Places(100, 32 * kib);
    places.received(1_024 * kib, 3_300 * kib, 0);
    expect(places.at(0)).toBe(3);
    places.received(40 * kib, 40 * kib, 500_000);
    expect(places.at(500_000 + tenMinutes - 1)).toBe(3);
    expect(places.at(500_000 + tenMinutes)).toBe(100);
  });

  it('a consumer has one place at least', () => {
    const places = new Places(2, kib);
    places.received(64 * kib, 64 * kib, 0);
    expect(places.at(0)).toBe(1);
  });
});
