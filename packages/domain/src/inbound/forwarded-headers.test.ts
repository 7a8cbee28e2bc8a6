import { describe, expect, it } from 'vitest';
import { credentialHeaders, keepHeaders } from './forwarded-headers.ts';

describe('keepHeaders', () => {
  it("keeps the provider's headers in order, in its spelling, repeated ones too", () => {
    const rawHeaders = [
      'X-GitHub-Event',
      'push',
      'content-TYPE',
      'application/json',
      'X-Tag',
      'a',
      'X-Hub-Signature-256',
      'sha256=00',
      'x-tag',
      'b',
      'X-Empty',
      '',
    ];
    expect(keepHeaders(rawHeaders)).toEqual([
      ['X-GitHub-Event', 'push'],
      ['content-TYPE', 'application/json'],
      ['X-Tag', 'a'],
      ['X-Hub-Signature-256', 'sha256=00'],
      ['x-tag', 'b'],
      ['X-Empty', ''],
    ]);
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authenticate',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'HTTP2-Settings',
    'Host',
    'Content-Length',
    'Expect',
  ])('drops %s, which belongs to the connection', (name) => {
    expect(keepHeaders([name, 'x', 'X-Kept', '1'])).toEqual([['X-Kept', '1']]);
  });

  it('drops every header that a Connection header names, before it or after it', () => {
    const rawHeaders = [
      'X-Hop',
      '1',
      'Connection',
      'close, X-HOP',
      'connection',
      ' x-other ',
      'x-other',
      '2',
      'X-Kept',
      '3',
    ];
    expect(keepHeaders(rawHeaders)).toEqual([['X-Kept', '3']]);
  });

  it.each([
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'X-API-Key',
    'Api-Key',
    'X-Auth-Token',
    'X-Access-Token',
    'X-Callback-Token',
    'X-Gitlab-Token',
    'X-Telegram-Bot-Api-Secret-Token',
    'verif-hash',
  ])('drops %s, which is a credential', (name) => {
    expect(keepHeaders([name, 's3cret', name.toUpperCase(), 's3cret'])).toEqual([]);
  });

  it.each([
    'X-Hub-Signature-256',
    'Stripe-Signature',
    'Webhook-Signature',
    'X-Webhook-Timestamp',
    'X-Shopify-Hmac-Sha256',
    'Idempotency-Key',
    'X-Forwarded-For',
    'Content-Encoding',
    'traceparent',
  ])('keeps %s, which is a signature or metadata', (name) => {
    expect(keepHeaders([name, 'x'])).toEqual([[name, 'x']]);
  });

  it('keeps the exact bytes of values', () => {
    expect(keepHeaders(['X-Raw', '\xff\xfe', '__proto__', 'x', 'constructor', 'y'])).toEqual([
      ['X-Raw', '\xff\xfe'],
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('returns nothing for no headers, and for a name without a value', () => {
    expect(keepHeaders([])).toEqual([]);
    expect(keepHeaders(['X-Kept', '1', 'X-Torn'])).toEqual([['X-Kept', '1']]);
  });

  it('handles thousands of headers', () => {
    const rawHeaders = Array.from({ length: 20_000 }, (_, i) => `x-${i}`);
    rawHeaders.push('Connection', Array.from({ length: 10_000 }, (_, i) => `x-${i * 2}`).join());
    expect(keepHeaders(rawHeaders)).toEqual([]);
  });
});

describe('credentialHeaders', () => {
  it('are in lower case, or they would never match', () => {
    for (const name of credentialHeaders) expect(name).toBe(name.toLowerCase());
  });
});
