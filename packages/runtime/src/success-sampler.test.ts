import { expect, it } from 'vitest';
import { SuccessSampler } from './success-sampler.ts';

it('a hundred lines a second are written, then those of one id in 256, and the others are counted', () => {
  let now = 5_000;
  const sampler = new SuccessSampler(() => now);
  const first = Array.from({ length: 100 }, () => sampler.admits('aa'));
  expect(first.every(Boolean)).toBe(true);
  expect([sampler.admits('aa'), sampler.admits(undefined), sampler.admits('a100')]).toEqual([
    false,
    false,
    true,
  ]);
  expect(sampler.takeDropped()).toBe(2);
  expect(sampler.takeDropped()).toBeUndefined();
  now += 1_000;
  expect(sampler.admits('aa')).toBe(true);
});
