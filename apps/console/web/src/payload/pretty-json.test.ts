import fc from 'fast-check';
import { expect, it } from 'vitest';
import { prettyJson } from './pretty-json.ts';

it('an id of more digits than a double holds keeps its digits', () => {
  expect(prettyJson('{"id":12345678901234567890,"amount":1.10,"e":1E+2}')).toBe(
    '{\n  "id": 12345678901234567890,\n  "amount": 1.10,\n  "e": 1E+2\n}',
  );
});

it('keys keep their order, their escapes and their repetitions', () => {
  expect(prettyJson('{"b":"\\u00e9","a":[],"b":{}}')).toBe('{\n  "b": "\\u00e9",\n  "a": [],\n  "b": {}\n}');
});

it('text that is no JSON is not touched', () => {
  for (const text of ['', 'a=1', '{"a":1', '[1,]']) expect(prettyJson(text)).toBeUndefined();
});

it('a body of nested brackets alone stays small', () => {
  const depth = 5_000;
  const pretty = prettyJson('['.repeat(depth) + ']'.repeat(depth));
  expect(pretty?.length).toBeLessThan(1_000_000);
});

it('nothing but white space outside of strings changes', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      const pretty = prettyJson(text) ?? '';
      expect(tokensOf(pretty)).toEqual(tokensOf(text));
      expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
    }),
  );
});

it('numbers are kept digit by digit', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,30})?([eE][+-]?\d{1,2})?$/);
  fc.assert(
    fc.property(fc.array(digits, { minLength: 1 }), (numbers) => {
      expect(tokensOf(prettyJson(`[${numbers.join(',')}]`) ?? '')).toEqual(
        tokensOf(`[${numbers.join(' , ')}]`),
      );
    }),
  );
});

/** The text without white space outside of strings, by a scan of single characters. */
function tokensOf(text: string): string {
  let isString = false;
  let kept = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isString && character === '\\') {
      kept += character + text.charAt(++at);
      continue;
    }
    if (character === '"') isString = !isString;
    if (isString || !/\s/.test(character)) kept += character;
  }
  return kept;
}
