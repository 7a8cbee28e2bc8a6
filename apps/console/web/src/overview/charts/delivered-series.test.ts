import { expect, it } from 'vitest';
import { deliveredSeries } from './delivered-series.ts';

const points = (...delivered: number[]) => delivered.map((each) => ({ delivered: each }));
const nameOf = (endpointId: string) => `https://${endpointId}.test`;

it('the endpoints with most deliveries have a series each, and the others share one', () => {
  const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((endpointId, at) => ({
    endpointId,
    points: points(at, 1),
  }));
  const series = deliveredSeries(all, nameOf);
  expect(series.map(({ name }) => name)).toEqual([
    'https://g.test',
    'https://f.test',
    'https://e.test',
    'https://d.test',
    'https://c.test',
    '2 others',
  ]);
  expect(series.at(-1)?.values).toEqual([1, 2]);
});

it('an endpoint to which nothing was delivered has no series', () => {
  expect(deliveredSeries([{ endpointId: 'a', points: points(0, 0) }], nameOf)).toEqual([]);
});
