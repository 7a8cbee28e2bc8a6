import { describe, expect, it } from 'vitest';
import { credentialHeaders, keepHeaders } from './forwarded-headers.ts';

describe('keepHeaders', () => {
  it('provider headers keep their order and spelling, also repeated ones', () => {
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
  ])('the header %s, which belongs to the connection, is dropped', (name) => {
    expect(keepHeaders([name, 'x', 'X-Kept', '1'])).toEqual([['X-Kept', '1']]);
  });

  it('every header that a Connection header names is dropped, before it or after it', () => {
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
  ])('the header %s, which is a credential, is dropped', (name) => {
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
  ])('the header %s, which is a signature or metadata, is kept', (name) => {
    expect(keepHeaders([name, 'x'])).toEqual([[name, 'x']]);
  });

  it('header values keep their exact bytes', () => {
    expect(keepHeaders(['X-Raw', '\xff\xfe', '__proto__', 'x', 'constructor', 'y'])).toEqual([
      ['X-Raw', '\xff\xfe'],
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('an empty list of headers stays empty, and a name without a value is dropped', () => {
    expect(keepHeaders([])).toEqual([]);
    expect(keepHeaders(['X-Kept', '1', 'X-Torn'])).toEqual([['X-Kept', '1']]);
  });

  it('ten thousand headers that a Connection header names are dropped', () => {
    const rawHeaders = Array.from({ length: 20_000 }, (_, i) => `x-${i}`);
    rawHeaders.push('Connection', Array.from({ length: 10_000 }, (_, i) => `x-${i * 2}`).join());
    expect(keepHeaders(rawHeaders)).toEqual([]);
  });
});

describe('credentialHeaders', () => {
  it('the names of credential headers are in lower case, or they would never match', () => {
    for (const name of credentialHeaders) expect(name).toBe(name.toLowerCase());
  });
});
