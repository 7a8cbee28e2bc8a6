import { expect, it } from 'vitest';
import { costs, flatLines, type FlatRound } from './flat/flat-lines.ts';

const state = {
  webhooks: 5_000_000,
  projects: 1_000,
  endpointsEach: 5,
  waiting: 500_000,
  waitingAtEnd: 500_000,
};
const measured = (accepted: number, drained: number, peakMib: number) => ({
  ...Object.fromEntries(costs.map((figure) => [figure, 100])),
  'accepted/s': accepted,
  'drained/s': drained,
  'receiver, peak MiB': peakMib,
  'worker, peak MiB': peakMib,
});
const round = (ratio: number, peakMib = 100): FlatRound => ({
  empty: measured(2_000, 5_000, 500),
  full: measured(2_000 * ratio, 5_000 * ratio, peakMib),
});
const lineOf = (rounds: readonly FlatRound[], figure: string, changes = {}) =>
  flatLines(rounds, { ...state, ...changes }).find((line) => line.figure.startsWith(figure));

it('a full system that reaches 0.9 of the empty one in the median of the rounds is flat', () => {
  expect(lineOf([round(0.8), round(0.9), round(1)], 'accepted/s')).toEqual({
    figure: 'accepted/s, full / empty',
    value: '1800 / 2000 = 0.90 (0.80–1.00)',
    bound: '≥ 0.9',
    holds: true,
  });
});

it('a full system that is slower than 0.9 of the empty one in most rounds is not flat', () => {
  expect(lineOf([round(0.8), round(0.89), round(1)], 'drained/s')?.holds).toBe(false);
});

it('the memory of the full system is the highest of any round', () => {
  const rounds = [round(1, 150), round(1, 250), round(1, 160)];
  expect(lineOf(rounds, 'receiver')).toMatchObject({ value: '250 MiB', holds: false });
  expect(lineOf(rounds, 'worker')).toMatchObject({ value: '250 MiB', holds: true });
});

it('a run whose queue became shorter measured another system', () => {
  expect(lineOf([round(1)], 'waiting', { waitingAtEnd: 449_000 })?.holds).toBe(false);
});
