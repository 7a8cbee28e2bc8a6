import { expect, it } from 'vitest';
import { pairLines, type PairsRound } from './pairs/pair-lines.ts';

const one = {
  perSecond: 1_000,
  accepted: [1_000],
  delivered: [1_000],
  costs: { 'receiver 1': 400, 'worker 1': 300, RabbitMQ: 150, Redis: 40, Postgres: 180, all: 1_070 },
};
const round = (accepted: readonly number[], delivered: readonly number[], receiverUs = 200): PairsRound => ({
  one,
  two: {
    perSecond: 1_000,
    accepted,
    delivered,
    costs: {
      ...one.costs,
      'receiver 1': receiverUs,
      'receiver 2': receiverUs,
      'worker 1': 150,
      'worker 2': 150,
    },
  },
});
const lineOf = (rounds: readonly PairsRound[], figure: string) =>
  pairLines(rounds, 500).find((line) => line.figure.startsWith(figure));

it('two processes share the load of all rounds together', () => {
  const rounds = [round([300, 700], [500, 500]), round([600, 400], [600, 400])];
  expect(lineOf(rounds, 'accepted by')).toMatchObject({ value: '45 %, 55 %', holds: true });
  expect(lineOf(rounds, 'delivered by')).toMatchObject({ value: '55 %, 45 %', holds: true });
});

it('a worker that delivers less than 40 % does not share evenly', () => {
  expect(lineOf([round([500, 500], [610, 390])], 'delivered by')?.holds).toBe(false);
});

it('the cost of a webhook is that of all processes of a kind together', () => {
  expect(lineOf([round([500, 500], [500, 500])], 'receiver')).toMatchObject({
    value: '400 / 400 = 1.00',
    holds: true,
  });
  expect(lineOf([round([500, 500], [500, 500], 250)], 'receiver')).toMatchObject({
    value: '500 / 400 = 1.25',
    holds: false,
  });
});

it('the cost of a server is shown without a bound', () => {
  expect(lineOf([round([500, 500], [500, 500])], 'RabbitMQ')?.bound).toBe('');
});

it('a rate that was not reached breaks the bound', () => {
  const rounds = [round([500, 500], [500, 500])];
  expect(lineOf(rounds, 'sent a second, two pairs')).toMatchObject({ bound: '1000', holds: true });
  const late = [...rounds, { one, two: { ...round([500, 500], [500, 500]).two, perSecond: 700 } }];
  expect(lineOf(late, 'sent a second, two pairs')?.holds).toBe(false);
});
