import { afterEach, beforeEach, expect, test } from 'vitest';
import { startRecordingEndpoint, type RecordingEndpoint } from './recording-endpoint.ts';

let endpoint: RecordingEndpoint;
beforeEach(async () => {
  endpoint = await startRecordingEndpoint();
});
afterEach(() => endpoint.close());

const post = (init: RequestInit = {}) => fetch(endpoint.url, { method: 'POST', ...init });

test('a recording endpoint records method, path, headers and the exact bytes', async () => {
  const body = Buffer.from([0, 255, 13, 10, 128]);
  await post({ body, headers: { 'X-Name': 'Value' } });
  const [request] = await endpoint.waitForRequests(1);
  expect(request).toMatchObject({ method: 'POST', path: '/hook', headers: { 'x-name': 'Value' } });
  expect(request?.body.equals(body)).toBe(true);
});

test('a recording endpoint answers each request as the test decides', async () => {
  endpoint.answerWith((_, count) => (count < 3 ? { statusCode: 503, headers: { 'retry-after': '1' } } : {}));
  const answers = [await post(), await post(), await post()];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 200]);
  expect(answers[0]?.headers.get('retry-after')).toBe('1');
});

test('a recording endpoint records a request that it leaves unanswered or resets', async () => {
  endpoint.answerWith({ instead: 'hang' });
  const sender = new AbortController();
  const hanging = post({ signal: sender.signal });
  await endpoint.waitForRequests(1);
  sender.abort();
  await expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
  endpoint.answerWith({ instead: 'reset' });
  await expect(post()).rejects.toThrow();
  expect(endpoint.requests).toHaveLength(2);
});

test('a recording endpoint refuses connections while it is shut, and is back on the same port', async () => {
  await post();
  await endpoint.shut();
  await expect(post()).rejects.toThrow();
  await endpoint.open();
  expect((await post()).status).toBe(200);
  expect(endpoint.requests).toHaveLength(2);
});
