import { expect, it } from 'vitest';
import { acceptedRate, allDelivered, memoryLines, nothingRefused } from './rates/rate-lines.ts';

it('one refused request in any phase breaks the bound', () => {
  const calm = { refused: 0, errors: 0 };
  expect(nothingRefused(calm, calm).holds).toBe(true);
  expect(nothingRefused(calm, { refused: 1, errors: 2 })).toMatchObject({ value: '1, 2', holds: false });
});

it('a load that falls behind its rate is not the load that was asked for', () => {
  const load = { perSecond: 1_000, seconds: 60 };
  expect(acceptedRate('accepted', 59_900, load).holds).toBe(true);
  expect(acceptedRate('accepted', 40_000, load)).toMatchObject({ value: '667/s', holds: false });
});

it('a 202 without a delivery breaks the bound', () => {
  expect(allDelivered(1).holds).toBe(false);
});

it('a receiver has 200 MiB at most, a worker 300', () => {
  const memory = { receiver: 0, worker: 0, receiverPeak: 201, workerPeak: 299 };
  expect(memoryLines(memory).map(({ holds }) => holds)).toEqual([false, true]);
});
