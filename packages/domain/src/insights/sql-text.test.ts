import { expect, it } from 'vitest';
import { has, literal, within } from './sql-text.ts';

it.each([
  [null, 'NULL'],
  [503, '503'],
  ["it's", "'it''s'"],
  ["\\'; drop table webhook_logs; --", "E'\\\\''; drop table webhook_logs; --'"],
  ['a\0b', "'ab'"],
  ['a\u001b[31m\n\u202eb', "E'a\\U0000001b[31m\\U0000000a\\U0000202eb'"],
])('%j is the literal %s', (value, expected) => expect(literal(value)).toBe(expected));

it('a condition names a value, null or a period', () => {
  expect(has('error', null)).toBe('error IS NULL');
  expect(has('error', 'x')).toBe("error = 'x'");
  expect(within('at', { since: 0, until: 1_000 })).toBe(
    "at >= '1970-01-01T00:00:00.000Z' AND at < '1970-01-01T00:00:01.000Z'",
  );
});
