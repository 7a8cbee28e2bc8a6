import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('waitFor waits until the condition gives a value, and returns it, also 0 and an empty text', async () => {
  const answers = [undefined, null, false, 0] as const;
  let asked = 0;
  expect(await waitFor('zero', () => answers[asked++], { everyMs: 1 })).toBe(0);
  expect(await waitFor('text', () => '')).toBe('');
  expect(asked).toBe(4);
});

test('waitFor fails at its deadline with a message that names the condition, and the last error as cause', async () => {
  const cause = new Error('refused');
  const waiting = waitFor('the receiver', () => Promise.reject(cause), { timeoutMs: 20, everyMs: 5 });
  await expect(waiting).rejects.toMatchObject({ message: 'waited 20 ms for the receiver', cause });
});
