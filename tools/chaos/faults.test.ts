import { expect, test } from 'vitest';
import { faults } from './faults/faults.mjs';
import { guards } from './guards/guards.ts';

const named = Object.entries(faults).flatMap(([name, each]) => each.map((fault) => ({ name, fault })));

test('every guard has a fault that removes it, and every fault has its guard', () => {
  expect(Object.keys(faults).toSorted()).toEqual(guards.map(({ name }) => name).toSorted());
});

test.each(named)('the fault $name replaces an export that $fault.module has', async ({ fault }) => {
  const source = fault.module.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
  const module = (await import(new URL(`../../${source}`, import.meta.url).href)) as Record<string, unknown>;
  expect(module[fault.name]).toBeTypeOf('function');
  expect(fault.replace(module[fault.name], () => {})).toBeTypeOf('function');
});
