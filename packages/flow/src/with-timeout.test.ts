import { expect, it } from 'vitest';
import { withTimeout } from './with-timeout.ts';

it('work that ends before the deadline gives its result', async () => {
  await expect(withTimeout(Promise.resolve(7), 1_000, 'too late')).resolves.toBe(7);
});

it('work that fails before the deadline rejects with its own error', async () => {
  await expect(withTimeout(Promise.reject(new Error('refused')), 1_000, 'too late')).rejects.toThrow(
    'refused',
  );
});

it('work that outlasts the deadline rejects with the given message, and its later rejection is handled', async () => {
  let fail: (error: Error) => void = () => {};
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(withTimeout(work, 1, 'too late')).rejects.toThrow('too late');
  fail(new Error('refused'));
});
