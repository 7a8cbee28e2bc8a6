import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventTypeOf, identifyWebhook } from './webhook-identity.ts';

const bodySha256Hex = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function idOf(headers: Record<string, string>): string {
  return identifyWebhook({ headers: (name) => headers[name], bodySha256Hex }).webhookId;
}

function typeOf(headers: Record<string, string>, json: unknown): string | null {
  return eventTypeOf({ headers: (name) => headers[name], json });
}

/** A header as Node hands it over: one character for each byte. */
function onTheWire(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function hashed(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

describe('the id of a webhook', () => {
  it('is X-Webhook-Id before Idempotency-Key before the hash of the body', () => {
    expect(idOf({ 'x-webhook-id': 'a', 'idempotency-key': 'b' })).toBe('a');
    expect(idOf({ 'idempotency-key': 'b' })).toBe('b');
    expect(idOf({})).toBe(bodySha256Hex);
  });

  it('takes an empty header as absent', () => {
    expect(idOf({ 'x-webhook-id': '', 'idempotency-key': 'b' })).toBe('b');
    expect(idOf({ 'x-webhook-id': '', 'idempotency-key': '' })).toBe(bodySha256Hex);
  });

  it('is kept at 255 bytes and replaced at 256', () => {
    expect(idOf({ 'x-webhook-id': 'a'.repeat(255) })).toBe('a'.repeat(255));
    expect(idOf({ 'x-webhook-id': 'a'.repeat(256) })).toBe(hashed('a'.repeat(256)));
    expect(idOf({ 'idempotency-key': 'b'.repeat(1_000_000) })).toBe(hashed('b'.repeat(1_000_000)));
  });

  it('counts bytes, not characters', () => {
    expect(idOf({ 'x-webhook-id': onTheWire('é'.repeat(127)) })).toBe('é'.repeat(127));
    expect(idOf({ 'x-webhook-id': onTheWire('é'.repeat(128)) })).toBe(hashed('é'.repeat(128)));
    expect(idOf({ 'x-webhook-id': onTheWire('🦊'.repeat(64)) })).toBe(hashed('🦊'.repeat(64)));
  });

  it.each(['a\tb', 'a\0', '\x7f', 'a\r\nb', '\x1b[31m', onTheWire('a\u0085b')])(
    'with control characters is replaced: %j',
    (value) => {
      expect(idOf({ 'x-webhook-id': value })).toBe(hashed(Buffer.from(value, 'latin1')));
    },
  );

  it('that is not UTF-8 is replaced by the hash of its bytes, so that different bytes stay different', () => {
    expect(idOf({ 'x-webhook-id': '\xff' })).toBe(hashed(Uint8Array.of(0xff)));
    expect(idOf({ 'x-webhook-id': '\xfe' })).toBe(hashed(Uint8Array.of(0xfe)));
    expect(idOf({ 'x-webhook-id': '\xed\xa0\x80' })).toMatch(/^sha256:/);
  });

  it('is taken as text when it has characters beyond Latin-1, which Node never produces', () => {
    expect(idOf({ 'x-webhook-id': 'sipariş-1' })).toBe('sipariş-1');
  });

  it('keeps repeated headers, joined by Node, as one id', () => {
    expect(idOf({ 'x-webhook-id': 'a, b' })).toBe('a, b');
  });
});

describe('the event type of a webhook', () => {
  it('is X-Event-Type before event, event_type and type of the body', () => {
    const json = { type: 't', event_type: 'et', event: 'e' };
    expect(typeOf({ 'x-event-type': 'h' }, json)).toBe('h');
    expect(typeOf({}, json)).toBe('e');
    expect(typeOf({}, { type: 't', event_type: 'et' })).toBe('et');
    expect(typeOf({}, { type: 't' })).toBe('t');
    expect(typeOf({}, {})).toBeNull();
  });

  it('takes an empty header as absent', () => {
    expect(typeOf({ 'x-event-type': '' }, { event: 'e' })).toBe('e');
  });

  it('skips fields that are empty or not strings', () => {
    expect(typeOf({}, { event: {}, event_type: '', type: 't' })).toBe('t');
    expect(typeOf({}, { event: 1, event_type: null, type: ['t'] })).toBeNull();
  });

  it.each([undefined, null, 'event', 7, true, [], [{ event: 'e' }]])('is null for a body of %j', (json) => {
    expect(typeOf({}, json)).toBeNull();
  });

  it('is null when it is over 255 characters', () => {
    expect(typeOf({ 'x-event-type': 'a'.repeat(255) }, null)).toBe('a'.repeat(255));
    expect(typeOf({ 'x-event-type': 'a'.repeat(256) }, { event: 'e' })).toBeNull();
    expect(typeOf({}, { event: 'a'.repeat(1_000_000) })).toBeNull();
  });

  it.each(['a\0b', 'a\nb', '\x7f', 'a\u0085', '\ud800'])('is null when it cannot be stored: %j', (type) => {
    expect(typeOf({}, { event: type, type: 'other' })).toBeNull();
  });

  it('is null for a header that is not UTF-8, and decoded when it is', () => {
    expect(typeOf({ 'x-event-type': '\xff' }, { event: 'e' })).toBeNull();
    expect(typeOf({ 'x-event-type': onTheWire('ödeme') }, null)).toBe('ödeme');
  });
});
