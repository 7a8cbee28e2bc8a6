import { expect, it } from 'vitest';
import { formatDuration, formatFields, formatTable, onOneLine } from './print.ts';

it('a table aligns its columns and shows a missing value as a dash', () => {
  const table = formatTable(
    ['ID', 'NAME', 'ENABLED'],
    [
      [1, 'a longer name', true],
      [22, null, false],
    ],
    'none',
  );
  expect(table).toBe('ID  NAME           ENABLED\n1   a longer name  yes\n22  -              no');
});

it('a table without rows is printed as a sentence', () => {
  expect(formatTable(['ID'], [], 'There are none.')).toBe('There are none.');
});

it('a list of fields leaves out those that do not apply', () => {
  expect(formatFields({ id: 'a', reason: undefined, name: null })).toBe('  id    a\n  name  -');
});

it('control characters in text from senders and endpoints are replaced, so that none reaches the terminal', () => {
  expect(onOneLine('a\n\tb \u001b[31mred\u202e')).toBe('a b \ufffd[31mred\ufffd');
});

it('text over its limit is cut and ends with an ellipsis', () => {
  expect(onOneLine('abcdef', 4)).toBe('abc…');
});

it.each([
  [45_400, '45 s'],
  [-600_000, '10 min'],
  [3 * 3_600_000, '3 h'],
  [5 * 86_400_000, '5 d'],
])('a duration of %d ms is printed as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
