import { expect, it } from 'vitest';
import { attemptTimeoutMs } from './attempt-timeout.ts';

it('an attempt may take as long as its endpoint allows, up to two minutes', () => {
  expect(attemptTimeoutMs({ timeoutMs: 1_000 })).toBe(1_000);
  expect(attemptTimeoutMs({ timeoutMs: 3_600_000 })).toBe(120_000);
});
