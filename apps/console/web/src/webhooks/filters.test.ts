import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSearch, stringifySearch } from '../routing/search-string.ts';
import { parseFilters, queryOf } from './filters.ts';

it('the filters of a URL survive the way into the URL and back', () => {
  const text = fc
    .string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
    .filter((each) => each.isWellFormed());
  const filters = fc.record(
    { status: fc.constantFrom('queued', 'rejected'), q: text, eventType: text, webhookId: text },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(filters, (given) => {
      expect(parseFilters(parseSearch(stringifySearch(given)))).toEqual(given);
    }),
  );
});

it('a number in the URL stays the text it is', () => {
  expect(parseFilters(parseSearch('?q=0047110'))).toEqual({ q: '0047110' });
});

it('a filter that the list does not know, or a value it cannot have, is left out', () => {
  expect(
    parseFilters(parseSearch('?status=lost&colour=red&minAttempts=x&since=yesterday&state=held')),
  ).toEqual({
    state: 'held',
  });
});

it('a time that is none is left out', () => {
  expect(parseFilters({ since: '2026-13-01T00:00:00Z', until: '2026-03-01T00:00:00.000Z' })).toEqual({
    until: '2026-03-01T00:00:00.000Z',
  });
});

it('a period counts back from when the list was opened', () => {
  const now = Date.parse('2026-03-02T00:00:00Z');
  expect(queryOf({ last: '24h', status: 'queued' }, now)).toEqual({
    status: 'queued',
    since: '2026-03-01T00:00:00.000Z',
  });
});
