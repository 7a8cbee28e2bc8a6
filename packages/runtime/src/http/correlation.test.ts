import { timeOfId } from '@hqrelay/domain/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { correlationIdOf } from './correlation.ts';

// The same values in every run: a search for new faults is not a check of a change.
fc.configureGlobal({ seed: 20_261_122 });

const anyCharacter = fc.nat(0xffff).map((code) => String.fromCharCode(code));
const nowMs = 1_790_000_000_123;

it.each([
  'a',
  'req-1234',
  '0199d7b2-0000-7000-8000-000000000000',
  'Root=1-67891233/abcdef@host+x',
  'x'.repeat(128),
])('the sane correlation id %s of a request is taken over', (id) => {
  expect(correlationIdOf(id, nowMs)).toBe(id);
});

it.each([undefined, '', 'x'.repeat(129), 'two words', 'a\r\nb', 'a\n', 'é', '<script>', 'a,b'])(
  'the correlation id %j is replaced by a new one of that time',
  (id) => {
    expect(timeOfId(correlationIdOf(id, nowMs))).toBe(nowMs);
  },
);

it('a correlation id is the header of the request or a new id, and never holds a character that a header or a log line must not', () => {
  const nearlySane = fc.stringMatching(/^[A-Za-z0-9._:/+=@-]{0,130}[\s\S]?$/);
  fc.assert(
    fc.property(fc.oneof(nearlySane, fc.string({ unit: anyCharacter })), (value) => {
      const id = correlationIdOf(value, nowMs);
      expect(id).toMatch(/^[!-~]{1,128}$/);
      expect(id === value || timeOfId(id) === nowMs).toBe(true);
    }),
  );
});
