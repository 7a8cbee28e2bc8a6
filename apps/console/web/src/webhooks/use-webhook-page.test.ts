import { expect, it } from 'vitest';
import { splitNew } from './use-webhook-page.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

it('webhooks that arrived after the list was opened are counted and not shown', () => {
  expect(splitNew(rows('5', '4', '3', '2'), rows('3', '2'))).toEqual({ shown: rows('3', '2'), newCount: 2 });
});

it('when a whole page of webhooks arrived, the rows of before stay', () => {
  expect(splitNew(rows('9', '8'), rows('3', '2'))).toEqual({ shown: rows('3', '2'), newCount: 2 });
});

it('a list that has just been opened shows every row', () => {
  expect(splitNew(rows('2', '1'), undefined)).toEqual({ shown: rows('2', '1'), newCount: 0 });
});
