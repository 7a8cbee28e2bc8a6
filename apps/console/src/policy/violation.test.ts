import { expect, it } from 'vitest';
import { parseViolation } from './violation.ts';

const report = {
  'document-uri': 'https://relay.example.com/search?q=4111',
  'effective-directive': 'script-src-elem',
  'blocked-uri': 'https://evil.example/x.js?card=4111#part',
  'source-file': 'https://relay.example.com/assets/index.js?v=1',
  'line-number': 7,
};

it('a report is read without the queries of its URLs, which may contain what a reader searched for', () => {
  expect(parseViolation({ 'csp-report': report })).toEqual({
    directive: 'script-src-elem',
    page: '/search',
    blocked: 'https://evil.example/x.js',
    source: 'https://relay.example.com/assets/index.js:7',
  });
});

it('a directive that no browser knows is counted as other, and long texts are cut', () => {
  const long = 'x'.repeat(10_000);
  expect(
    parseViolation({
      'csp-report': { 'violated-directive': long, 'blocked-uri': long, 'document-uri': `https://x/${long}` },
    }),
  ).toEqual({ directive: 'other', page: `/${long.slice(0, 199)}`, blocked: long.slice(0, 200), source: '' });
});

it('the whole directive of an older browser is read by its name', () => {
  const older = { 'violated-directive': "img-src 'self'", 'blocked-uri': 'data' };
  expect(parseViolation({ 'csp-report': older })).toMatchObject({ directive: 'img-src', blocked: 'data' });
});

it.each([null, 'text', [], {}, { 'csp-report': 'text' }])('%j is no report', (posted) => {
  expect(parseViolation(posted)).toBeUndefined();
});
