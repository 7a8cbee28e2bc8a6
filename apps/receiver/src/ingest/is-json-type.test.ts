import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonType } from './is-json-type.ts';

const token = fc.stringMatching(/^[\w.-]{1,12}$/);
const space = fc.constantFrom('', ' ', '\t');
/** What may follow the media type: nothing, or a semicolon and any text, also malformed parameters. */
const rest = fc.option(
  fc.string().map((text) => `;${text}`),
  { nil: '' },
);

function inAnyCase(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(text, fc.boolean())
    .map(([each, isUpper]) => (isUpper ? each.toUpperCase() : each.toLowerCase()));
}

it('application/json and every +json type are JSON in any case, whatever parameters follow', () => {
  const subtype = fc.oneof(
    fc.constant('json'),
    token.map((each) => `${each}+json`),
  );
  const mediaType = inAnyCase(subtype.map((each) => `application/${each}`));
  fc.assert(
    fc.property(space, mediaType, space, rest, (before, type, after, parameters) => {
      expect(isJsonType(before + type + after + parameters)).toBe(true);
    }),
  );
});

it('a content type is JSON only if the text before its first semicolon is a JSON type', () => {
  const piece = fc.constantFrom('application/', 'json', '+', ';', ' ', '/', 'x', 'charset=utf-8', ',');
  const pieces = fc.array(piece, { maxLength: 5 }).map((each) => each.join(''));
  const value = fc.oneof(
    pieces.map((each) => `application/${each}`),
    pieces,
    fc.string(),
  );
  fc.assert(
    fc.property(value, (contentType) => {
      const mediaType = contentType.split(';')[0]!.trim().toLowerCase();
      const [type, subtype = '', ...others] = mediaType.split('/');
      const isJson = subtype === 'json' || (/^[\w.+-]+$/.test(subtype) && /.\+json$/.test(subtype));
      expect(isJsonType(contentType)).toBe(type === 'application' && others.length === 0 && isJson);
    }),
    { numRuns: 2_000 },
  );
});
