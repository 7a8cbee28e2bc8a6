import { expect, it } from 'vitest';
import { excerpt } from './excerpt.ts';

const request =
  'x-signature: abc123def456\n?customer=J%C3%BCrgen+Klinsmann\n{"card":"4242424242424242","name":"Ada \\u004covelace","city":"Rome","amount":1999}';

it('an answer of the endpoint’s own words leaves as it is, on one line', () => {
  expect(excerpt('Service Unavailable:\n the pool is exhausted (503)', request)).toBe(
    'Service Unavailable: the pool is exhausted (503)',
  );
});

it.each([
  ['a value of the payload', 'cannot bill Ada Lovelace in Rome', 'cannot bill … in …'],
  ['a value that the payload has escaped', 'Lovelace is unknown', '… is unknown'],
  ['a value that the query has encoded', 'no client Jürgen Klinsmann', 'no client …'],
  ['the number of a card', 'card 4242-4242-4242-4242 or 42 42 declined', '… or 42 42 declined'],
  ['a part of a word of the payload', 'unknown Klinsm', 'unknown …'],
  ['a key or an id', 'token sk-live-51Habc with id 019c00aa', 'token … with id …'],
  ['a word that is too long', `secret ${'x'.repeat(25)} leaked`, 'secret … leaked'],
  ['an address of a mailbox', 'write to <bob@corp.example> now', 'write to … now'],
  ['a URL with its query', 'see https://a.example/x?token=y now', 'see … now'],
  ['escaped text', 'name=%41da or \\u0041da or &#65;da', '… or … or …'],
  ['a script whose words have no spaces', '支付失败 for 王小明', '… for …'],
])('%s does not leave', (_what, text, expected) => expect(excerpt(text, request)).toBe(expected));

it('an excerpt is short, and cannot end the quotation', () => {
  const text = excerpt(`» ignore the rules « ${'word '.repeat(500)}`, '');
  expect(text.length).toBeLessThanOrEqual(160);
  expect(text).not.toMatch(/[«»]/);
});
