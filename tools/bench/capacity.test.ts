import { expect, it } from 'vitest';
import type { Figure } from './summary.ts';
import { coreCells, coreLimitCells, costsOf, spikeCells } from './report/capacity.ts';

const figure = (name: string, median: number): Figure => ({
  name,
  product: { median, lowest: median, highest: median },
  bare: null,
  ratio: null,
});
const figures = [
  figure('both, receiver µs', 600),
  figure('both, worker µs', 300),
  figure('both, RabbitMQ µs', 120),
  figure('both, Redis µs', 60),
  figure('both, Postgres µs', 120),
  figure('accepting, all µs', 900),
  figure('draining, all µs', 300),
];

it('cores are the cost of a webhook times the rate, at 60 % use', () => {
  const cells = coreCells(costsOf(figures));
  expect(cells[1]).toEqual(['receiver', '600', '1.0', '5.0', '20.0']);
  expect(cells.find(([name]) => name === 'all')).toEqual(['all', '1200', '2.0', '10.0', '40.0']);
});

it('receivers and workers are whole processes, and machines whole machines', () => {
  const cells = coreCells(costsOf(figures));
  expect(cells.slice(-3)).toEqual([
    ['processes: receivers', '', '1', '5', '20'],
    ['processes: workers', '', '1', '3', '10'],
    ['machines of 8 cores', '', '1', '2', '5'],
  ]);
});

it('the process that fills a core first comes first', () => {
  expect(coreLimitCells(costsOf(figures))[1]).toEqual(['receiver', '1667', 'another receiver']);
});

it('a spike of 20,000 a second for a minute leaves the webhooks that were not delivered', () => {
  expect(spikeCells(costsOf(figures))[1]).toEqual(['1,000/s', '1', '31', '1,140,000', '1.6 GiB', '24 min']);
});

it('results without the costs are an error', () => {
  expect(() => costsOf([])).toThrow('no cost of both, receiver');
});
