import { expect, it } from 'vitest';
import { projectIdOf } from './webhooks-first.ts';

const id = '0194f8a2-7c1e-7000-8000-0123456789AB';

it.each([
  ['the path of a project', `/v1/webhooks/${id}`],
  ['a query behind it', `/v1/webhooks/${id}?a=b/c`],
  ['an empty query', `/v1/webhooks/${id}?`],
])('a POST is a webhook of its project without Express: %s', (_what, url) => {
  expect(projectIdOf({ method: 'POST', url })).toBe(id);
});

it.each([
  ['another method', 'GET', `/v1/webhooks/${id}`],
  ['another path', 'POST', `/v1/webhook/${id}`],
  ['no project', 'POST', '/v1/webhooks'],
  ['an empty project', 'POST', '/v1/webhooks/'],
  ['an id that is cut off', 'POST', `/v1/webhooks/${id.slice(1)}`],
  ['a longer id', 'POST', `/v1/webhooks/${id}0`],
  ['an id that is no UUID', 'POST', `/v1/webhooks/${id.replaceAll('-', '+')}`],
  ['a slash at the end', 'POST', `/v1/webhooks/${id}/`],
  ['an escaped character', 'POST', `/v1/webhooks/%30${id.slice(1)}`],
  ['upper case in the path', 'POST', `/V1/Webhooks/${id}`],
  ['a whole URL, as to a proxy', 'POST', `http://relay.example/v1/webhooks/${id}`],
])('a request goes to Express: %s', (_what, method, url) => {
  expect(projectIdOf({ method, url })).toBeUndefined();
});
