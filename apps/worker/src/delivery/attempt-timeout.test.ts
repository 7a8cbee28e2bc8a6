import { expect, it } from 'vitest';
import { attemptTimeoutMs } from './attempt-timeout.ts';

it('is the one of the endpoint, up to two minutes', () => {
  expect(attemptTimeoutMs({ timeoutMs: 1_000 })).toBe(1_000);
  expect(attemptTimeoutMs({ timeoutMs: 3_600_000 })).toBe(120_000);
});
