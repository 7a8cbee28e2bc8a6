import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('waits until the answer is one, and returns it, be it 0 or empty', async () => {
  const answers = [undefined, null, false, 0] as const;
  let asked = 0;
  expect(await waitFor('zero', () => answers[asked++], { everyMs: 1 })).toBe(0);
  expect(await waitFor('text', () => '')).toBe('');
  expect(asked).toBe(4);
});

test('says what it waited for and what went wrong last, when time is up', async () => {
  const cause = new Error('refused');
  const waiting = waitFor('the receiver', () => Promise.reject(cause), { timeoutMs: 20, everyMs: 5 });
  await expect(waiting).rejects.toMatchObject({ message: 'waited 20 ms for the receiver', cause });
});
