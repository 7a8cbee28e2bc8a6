import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { genericIdentity } from './generic.ts';
import { identify } from './identify.ts';
import { viewOf } from './request/request-view.ts';

/** Of an empty body. */
const bodySha256Hex = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function identityOf(headers: Record<string, string>, body: Buffer) {
  const view = viewOf({ method: 'POST', url: '', query: '', headers: (name) => headers[name], body });
  return identify(genericIdentity, {}, view);
}

function idOf(headers: Record<string, string>): string {
  return identityOf(headers, Buffer.alloc(0)).webhookId;
}

function typeOf(headers: Record<string, string>, json: unknown): string | null {
  return identityOf(headers, Buffer.from(JSON.stringify(json) ?? '')).eventType;
}

/** The value of a header as Node reads it: one Latin-1 character for each byte. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function hashed(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

describe('the id of a webhook', () => {
  it('a webhook id is X-Webhook-Id, else Idempotency-Key, else the hash of the body', () => {
    expect(idOf({ 'x-webhook-id': 'a', 'idempotency-key': 'b' })).toBe('a');
    expect(idOf({ 'idempotency-key': 'b' })).toBe('b');
    expect(idOf({})).toBe(bodySha256Hex);
  });

  it('an empty webhook id header counts as absent', () => {
    expect(idOf({ 'x-webhook-id': '', 'idempotency-key': 'b' })).toBe('b');
    expect(idOf({ 'x-webhook-id': '', 'idempotency-key': '' })).toBe(bodySha256Hex);
  });

  it('a webhook id of 255 bytes is kept, and one of 256 bytes is replaced by its hash', () => {
    expect(idOf({ 'x-webhook-id': 'a'.repeat(255) })).toBe('a'.repeat(255));
    expect(idOf({ 'x-webhook-id': 'a'.repeat(256) })).toBe(hashed('a'.repeat(256)));
    expect(idOf({ 'idempotency-key': 'b'.repeat(1_000_000) })).toBe(hashed('b'.repeat(1_000_000)));
  });

  it('the limit of a webhook id counts bytes, not characters', () => {
    expect(idOf({ 'x-webhook-id': onTheWire('é'.repeat(127)) })).toBe('é'.repeat(127));
    expect(idOf({ 'x-webhook-id': onTheWire('é'.repeat(128)) })).toBe(hashed('é'.repeat(128)));
    expect(idOf({ 'x-webhook-id': onTheWire('🦊'.repeat(64)) })).toBe(hashed('🦊'.repeat(64)));
  });

  it.each(['a\tb', 'a\0', '\x7f', 'a\r\nb', '\x1b[31m', onTheWire('a\u0085b')])(
    'a webhook id with control characters is replaced by its hash: %j',
    (value) => {
      expect(idOf({ 'x-webhook-id': value })).toBe(hashed(Buffer.from(value, 'latin1')));
    },
  );

  it('a webhook id that is not UTF-8 is replaced by the hash of its bytes, so different ids stay different', () => {
    expect(idOf({ 'x-webhook-id': '\xff' })).toBe(hashed(Uint8Array.of(0xff)));
    expect(idOf({ 'x-webhook-id': '\xfe' })).toBe(hashed(Uint8Array.of(0xfe)));
    expect(idOf({ 'x-webhook-id': '\xed\xa0\x80' })).toMatch(/^sha256:/);
  });

  it('a webhook id with characters beyond Latin-1, which Node never produces, is taken as text', () => {
    expect(idOf({ 'x-webhook-id': 'sipariş-1' })).toBe('sipariş-1');
  });

  it('repeated webhook id headers, which Node joins, are one id', () => {
    expect(idOf({ 'x-webhook-id': 'a, b' })).toBe('a, b');
  });
});

describe('the event type of a webhook', () => {
  it('an event type is X-Event-Type, else the event, event_type or type of the body', () => {
    const json = { type: 't', event_type: 'et', event: 'e' };
    expect(typeOf({ 'x-event-type': 'h' }, json)).toBe('h');
    expect(typeOf({}, json)).toBe('e');
    expect(typeOf({}, { type: 't', event_type: 'et' })).toBe('et');
    expect(typeOf({}, { type: 't' })).toBe('t');
    expect(typeOf({}, {})).toBeNull();
  });

  it('an empty event type header counts as absent', () => {
    expect(typeOf({ 'x-event-type': '' }, { event: 'e' })).toBe('e');
  });

  it('an event type field of the body that is empty or not a string is skipped', () => {
    expect(typeOf({}, { event: {}, event_type: '', type: 't' })).toBe('t');
    expect(typeOf({}, { event: 1, event_type: null, type: ['t'] })).toBeNull();
  });

  it.each([undefined, null, 'event', 7, true, [], [{ event: 'e' }]])('body %j has no event type', (json) => {
    expect(typeOf({}, json)).toBeNull();
  });

  it('an event type of more than 255 characters is null', () => {
    expect(typeOf({ 'x-event-type': 'a'.repeat(255) }, null)).toBe('a'.repeat(255));
    expect(typeOf({ 'x-event-type': 'a'.repeat(256) }, { event: 'e' })).toBeNull();
    expect(typeOf({}, { event: 'a'.repeat(1_000_000) })).toBeNull();
  });

  it.each(['a\0b', 'a\nb', '\x7f', 'a\u0085', '\ud800'])('the unstorable event type %j is null', (type) => {
    expect(typeOf({}, { event: type, type: 'other' })).toBeNull();
  });

  it('an event type header is decoded when it is UTF-8, and otherwise null', () => {
    expect(typeOf({ 'x-event-type': '\xff' }, { event: 'e' })).toBeNull();
    expect(typeOf({ 'x-event-type': onTheWire('ödeme') }, null)).toBe('ödeme');
  });
});
