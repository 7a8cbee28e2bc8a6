import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { measureUndisturbed } from './undisturbed.ts';

test('a measurement leaves out the time in which this process could not run', async () => {
  const block = async () => {
    const endsAt = performance.now() + 300;
    while (performance.now() < endsAt) {
      // As a machine does that gives this process no core.
    }
    return 'done';
  };
  const { value, undisturbedMs } = await measureUndisturbed(block);
  expect(value).toBe('done');
  expect(undisturbedMs).toBeLessThan(200);
});

test('a measurement leaves out ten seconds at the most', async () => {
  const { undisturbedMs } = await measureUndisturbed(() => wait(10_300));
  expect(undisturbedMs).toBeGreaterThan(250);
});
