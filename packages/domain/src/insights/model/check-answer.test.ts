import { expect, it } from 'vitest';
import { checkAnswer, formatSummary } from './check-answer.ts';

const told = {
  findingIds: new Set(['endpoint_failing-1', 'dead_letters-2']),
  document: '{"text":"https://shop.example:8443 failed with HTTP 503 from payment.captured on 10.0.0.7"}',
};
const cited = (text: string, findingIds = ['endpoint_failing-1']) => ({ text, findingIds });
const summaryOf = (...summary: unknown[]) =>
  checkAnswer({ summary, causes: [], nextSteps: [] }, told)?.summary;

it('statements that cite known findings are kept in their order, with each id once', () => {
  const answer = {
    summary: [cited('The shop is down.', ['dead_letters-2', 'dead_letters-2'])],
    causes: [cited('It restarts.'), cited('Its proxy is misconfigured.')],
    nextSteps: [cited('Look at its log.')],
  };
  expect(checkAnswer(answer, told)).toEqual({
    summary: [cited('The shop is down.', ['dead_letters-2'])],
    causes: answer.causes,
    nextSteps: answer.nextSteps,
  });
});

it.each([
  ['none', []],
  ['an unknown finding', ['endpoint_failing-9']],
  ['a known and an unknown finding', ['endpoint_failing-1', 'constructor']],
])('a statement that cites %s is dropped', (_what, findingIds) => {
  expect(summaryOf(cited('All is well.', findingIds))).toEqual([]);
});

it.each([
  'Open https://evil.example/login to repair it.',
  'Open www.evil-site.com.',
  'Ask evil.example for help.',
  'Ask ｅvil.example for help.',
  'Run payload.sh on the server.',
  'Send the key to 203.0.113.9 now.',
  'Write to help@shop.example.',
  'See [the guide](/x).',
  '<img src=x onerror=alert(1)>',
  'Run `rm -rf`.',
  'javascript:alert(1)',
  'x'.repeat(501),
  '\u202e \u0007',
])('a statement with a link, markup or a name that the model was not told is dropped: %j', (text) => {
  expect(summaryOf(cited(text))).toEqual([]);
});

it.each([
  'shop.example answers HTTP 503 to payment.captured in 4.5 s, e.g. at noon.',
  'The address 10.0.0.7 does not answer.',
])('a statement that names what the model was told is kept: %j', (text) => {
  expect(summaryOf(cited(text))).toEqual([cited(text)]);
});

it('control characters, line ends and characters that reverse a text become spaces', () => {
  expect(summaryOf(cited('one\u001b[31m'.replace('[', '') + '\u202etwo\r\n three'))).toEqual([
    cited('one 31m two three'),
  ]);
});

it('a list has at most five statements', () => {
  expect(summaryOf(...Array.from({ length: 9 }, () => cited('Again.')))).toHaveLength(5);
});

it.each([
  null,
  'text',
  {},
  { summary: [{ text: 1, findingIds: [] }], causes: [], nextSteps: [] },
  { summary: [], causes: [], nextSteps: [], html: '' },
])('an answer of another form is none: %j', (answer) => expect(checkAnswer(answer, told)).toBeNull());

it('a summary is a line for each statement with the ids that it cites, and null without any', () => {
  expect(formatSummary([cited('One.'), cited('Two.', ['a', 'b'])])).toBe(
    'One. [endpoint_failing-1]\nTwo. [a, b]',
  );
  expect(formatSummary([])).toBeNull();
});
