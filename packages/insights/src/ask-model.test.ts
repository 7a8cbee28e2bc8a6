import { apiError, messageOf, startModelServer } from '@hqrelay/testing/model/model-server';
import { afterAll, expect, it } from 'vitest';
import { askModel, type ModelReply } from './ask-model.ts';

const server = await startModelServer();
const other = await startModelServer();
afterAll(() => Promise.all([server.close(), other.close()]));

const ask = (more: { timeoutMs?: number; baseUrl?: string } = {}): Promise<ModelReply> =>
  askModel(
    { apiKey: 'sk-planted-key', baseUrl: server.baseUrl, model: 'claude-test', timeoutMs: 5_000, ...more },
    { instructions: 'the instructions', document: 'the document' },
  );
const usage = { inputTokens: 900, outputTokens: 200 };
const empty = { summary: [], causes: [], nextSteps: [] };

it('the answer of the model is read as JSON, with the tokens that it was billed for', async () => {
  server.answerWith(messageOf(JSON.stringify(empty)));
  expect(await ask()).toEqual({ kind: 'answered', answer: empty, usage });
  const request = JSON.parse(server.requests.at(-1)?.body.toString() ?? '');
  expect(request).toMatchObject({
    model: 'claude-test',
    max_tokens: 4_000,
    system: 'the instructions',
    messages: [{ role: 'user', content: 'the document' }],
    output_config: { format: { type: 'json_schema' } },
  });
  expect(request).not.toHaveProperty('stream');
});

it.each<[what: string, how: Parameters<typeof server.answerWith>[0], reply: object]>([
  ['a refusal', messageOf('', { stopReason: 'refusal' }), { kind: 'useless', reason: 'refused', usage }],
  [
    'an answer that was cut off',
    messageOf('{"summ', { stopReason: 'max_tokens' }),
    { reason: 'cut_off', usage },
  ],
  ['a text that is no JSON', messageOf('Sure! Here it is:'), { kind: 'useless', reason: 'malformed', usage }],
  [
    'a body without usage',
    { headers: { 'content-type': 'application/json' }, body: '{"content":[]}' },
    { reason: 'malformed', usage: null },
  ],
  [
    'an event stream',
    { headers: { 'content-type': 'text/event-stream' }, body: 'event: ping\ndata: {}\n\n' },
    { reason: 'malformed', usage: null },
  ],
  [
    'a page of HTML',
    { headers: { 'content-type': 'text/html' }, body: '<h1>hi</h1>' },
    { reason: 'malformed', usage: null },
  ],
  ['usage that is negative', messageOf('{}', { inputTokens: -5 }), { reason: 'malformed', usage: null }],
])('%s is of no use, and is not an error', async (_what, how, reply) => {
  server.answerWith(how);
  expect(await ask()).toMatchObject(reply);
});

it.each([
  [429, 'rate_limit_error', { 'retry-after': '7' }, 7_000],
  [429, 'rate_limit_error', { 'retry-after': '999999' }, 600_000],
  [529, 'overloaded_error', {}, null],
  [500, 'api_error', {}, null],
  [401, 'authentication_error', {}, null],
])('an answer %i %s is tried once, and costs nothing', async (statusCode, type, headers, retryAfterMs) => {
  const before = server.requests.length;
  server.answerWith(apiError(statusCode, type, 'sk-planted-key', headers));
  expect(await ask()).toEqual({ kind: 'unavailable', statusCode, retryAfterMs, mayBeBilled: false });
  expect(server.requests.length).toBe(before + 1);
});

it.each<[what: string, how: Parameters<typeof server.answerWith>[0]]>([
  ['does not answer', { instead: 'hang' }],
  ['resets the connection', { instead: 'reset' }],
  ['sends headers and the beginning of a body', { headers: { 'content-length': '4096' }, body: '{' }],
])('a server that %s is unavailable within the timeout, and may have billed', async (_what, how) => {
  server.answerWith(how);
  expect(await ask({ timeoutMs: 300 })).toMatchObject({
    kind: 'unavailable',
    statusCode: null,
    mayBeBilled: true,
  });
});

it('an answer that is too large is not read to its end', async () => {
  server.answerWith(messageOf('x'.repeat(1 << 20)));
  expect(await ask()).toMatchObject({ kind: 'unavailable' });
});

it('a redirect is not followed, so that the API key reaches no other host', async () => {
  server.answerWith({ statusCode: 307, headers: { location: `${other.baseUrl}/v1/messages` } });
  expect(await ask()).toMatchObject({ kind: 'unavailable' });
  expect(other.requests).toHaveLength(0);
});

it('a base URL where nothing listens is unavailable', async () => {
  expect(await ask({ baseUrl: 'http://127.0.0.1:9' })).toMatchObject({
    kind: 'unavailable',
    statusCode: null,
  });
});
