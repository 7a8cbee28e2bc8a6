import { expect, it } from 'vitest';
import { returnUrlProblem } from './return-url.ts';

it.each([
  '/',
  '/projects/1/webhooks?state=dead_lettered#top',
  'https://backoffice.example.com/orders/4711',
  'http://10.0.0.5:8080/',
])('%s is a return URL', (text) => expect(returnUrlProblem(text)).toBeUndefined());

it.each([
  '',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  'data:text/html,x',
  'https:evil.example',
  'https://user:secret@example.com/',
  'backoffice.example.com',
  `/${'a'.repeat(2_000)}`,
])('%j is no return URL', (text) => expect(returnUrlProblem(text)).toMatch(/^must /));
