import { expect, test } from 'vitest';
import { findCircles } from './circles.ts';
import { importableBy, partOf } from './layers.ts';

const graph = (imports: Record<string, string[]>) =>
  new Map(Object.entries(imports).map(([name, targets]) => [name, new Set(targets)]));

test('imports that point one way form no circle', () => {
  expect(findCircles(graph({ ingest: ['http', 'report'], http: ['report'], report: [] }))).toEqual([]);
});

test('a circle is reported once, by the shortest way around', () => {
  const circle = graph({
    main: ['ingest'],
    ingest: ['http', 'reservation'],
    reservation: ['ingest'],
    http: [],
  });
  expect(findCircles(circle)).toEqual([['ingest', 'reservation', 'ingest']]);
});

test('a package imports the rows below its own, and no neighbour', () => {
  expect(importableBy('audit', false)).toEqual(expect.arrayContaining(['queue', 'flow', 'domain']));
  expect(importableBy('audit', false)).not.toContain('projects');
  expect(importableBy('domain', false)).toEqual([]);
});

test('production code imports nothing that exists for tests, and its tests do', () => {
  expect(importableBy('worker', false)).not.toContain('testing');
  expect(importableBy('worker', true)).toContain('testing');
});

test('a part that no row names is not the same as a part that may import nothing', () => {
  expect(importableBy('somewhere', false)).toBeUndefined();
  expect(partOf('tools/verify.ts')).toBeUndefined();
});
