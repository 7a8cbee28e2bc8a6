// Properties of what is read from the headers of a request before and after its signature is verified.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keepHeaders } from './forwarded-headers.ts';
import { genericIdentity, genericScheme, genericTimestampScheme } from '../providers/generic.ts';
import { identify } from '../providers/identify.ts';
import { viewOf } from '../providers/request/request-view.ts';
import type { Scheme } from '../providers/scheme.ts';
import { signRequest } from '../providers/signature/sign-request.ts';
import { verifyRequest } from '../providers/signature/verify-request.ts';

// The same values in every run: a search for new faults is not a check of a change.
fc.configureGlobal({ seed: 20_261_122 });

const now = 1_790_000_000_000;
const secrets = [{ id: 'secret-1', key: 'correct horse battery staple' }];

/** A header value as Node gives it: one Latin-1 character for each byte, no CR, LF or NUL. */
const headerValue = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 1, max: 0xff })), {
    maxLength: 600,
  })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10 && byte !== 13)).toString('latin1'));
const anyCharacter = fc.nat(0xffff).map((code) => String.fromCharCode(code));
const character = fc.oneof(fc.integer({ min: 1, max: 0xff }), fc.integer({ min: 0x100, max: 0x1f9ff }));
const wellFormed = character.map((code) => String.fromCodePoint(code)).filter((each) => each.isWellFormed());
const text = fc.string({ unit: wellFormed, maxLength: 300 });
const wireText = text.map((value) => Buffer.from(value.replaceAll(/[\r\n\0]/g, '')).toString('latin1'));
const anyHeader = fc.oneof(headerValue, wireText);
const body = fc.uint8Array({ maxLength: 2_000 });

type Headers = Record<string, string | undefined>;

function viewWith(headers: Headers, bytes: Uint8Array) {
  return viewOf({ method: 'POST', url: '', query: '', headers: lookup(headers), body: Buffer.from(bytes) });
}

function kindOf(scheme: Scheme, headers: Headers, bytes: Uint8Array) {
  return verifyRequest([scheme], { secrets }, viewWith(headers, bytes), now).kind;
}

function signWith(scheme: Scheme, bytes: Uint8Array, headers: Record<string, string> = {}) {
  const draft = { method: 'POST', url: '', headers, body: Buffer.from(bytes) };
  return signRequest([scheme], { secrets }, draft, now).headers;
}

const lookup = (headers: Record<string, string | undefined>) => (name: string) => headers[name];

describe('the signature header', () => {
  it('no signature header is verified that was not computed from the body with the secret', () => {
    const digest = fc.stringMatching(/^[0-9a-fA-F]{62,66}$/).map((hex) => `sha256=${hex}`);
    fc.assert(
      fc.property(fc.oneof(anyHeader, digest), body, (value, bytes) => {
        const kind = kindOf(genericScheme, { 'x-hub-signature-256': value }, bytes);
        const isWellFormed = /^sha256=[0-9a-f]{64}$/i.test(value);
        expect(kind).toBe(value === '' ? 'missing' : isWellFormed ? 'mismatch' : 'malformed');
      }),
    );
  });

  it('a signature is verified in either case of its digits, and in no other spelling', () => {
    fc.assert(
      fc.property(body, anyHeader, fc.nat(70), (bytes, junk, at) => {
        const signed = signWith(genericScheme, bytes);
        const signature = signed['x-hub-signature-256']!;
        const check = (value: string) => kindOf(genericScheme, { 'x-hub-signature-256': value }, bytes);
        expect(check(`sha256=${signature.slice(7).toUpperCase()}`)).toBe('verified');
        fc.pre(junk !== '');
        expect(check(signature.slice(0, at) + junk + signature.slice(at))).not.toBe('verified');
      }),
    );
  });
});

describe('the timestamp header', () => {
  const sign = (timestamp: string, bytes: Uint8Array) => {
    return signWith({ ...genericScheme, message: '{header:t}.{body}' }, bytes, { t: timestamp });
  };
  const check = (timestamp: string, bytes: Uint8Array) => {
    const headers = { ...sign(timestamp, bytes), 'x-webhook-timestamp': timestamp };
    return kindOf(genericTimestampScheme, headers, bytes);
  };

  it('a signed timestamp is accepted within 300 s of now, and stale outside', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), body, (seconds, bytes) => {
        const isNear = Math.abs(now / 1_000 - seconds) <= 300;
        expect(check(String(seconds), bytes)).toBe(isNear ? 'verified' : 'stale');
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: -300, max: 300 }), body, (offset, bytes) => {
        expect(check(String(now / 1_000 + offset), bytes)).toBe('verified');
      }),
    );
  });

  it('a timestamp that is not whole seconds in digits verifies nothing, though it was signed', () => {
    const nearlySeconds = fc
      .tuple(fc.constantFrom('', '+', '-', '0x', ' '), fc.nat(), fc.constantFrom('', '.0', 'e3', ' ', 'ms'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(nearlySeconds, anyHeader), body, (timestamp, bytes) => {
        fc.pre(timestamp !== '' && !/^\d{1,12}$/.test(timestamp));
        expect(check(timestamp, bytes)).toBe('mismatch');
      }),
    );
  });
});

describe('the webhook id header', () => {
  const idOf = (value: string) =>
    identify(genericIdentity, {}, viewWith({ 'x-webhook-id': value }, Buffer.from('a body'))).webhookId;

  it('a webhook id is storable text of at most 255 bytes, whatever its header is', () => {
    fc.assert(
      fc.property(anyHeader, (value) => {
        const id = idOf(value);
        expect(Buffer.byteLength(id)).toBeLessThanOrEqual(255);
        expect(id).not.toMatch(/\p{Cc}/u);
        expect(id.isWellFormed()).toBe(true);
        expect(id).not.toBe('');
      }),
    );
  });

  it('different webhook id headers give different ids, and the same header the same id', () => {
    fc.assert(
      fc.property(anyHeader, anyHeader, (one, other) => {
        expect(idOf(one) === idOf(other)).toBe(one === other);
      }),
    );
  });

  it('a webhook id that is UTF-8 without control characters is kept, and any other is hashed', () => {
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(value !== '' && !/\p{Cc}/u.test(value) && value.isWellFormed());
        const bytes = Buffer.from(value);
        const hashed = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
        expect(idOf(bytes.toString('latin1'))).toBe(bytes.length <= 255 ? value : hashed);
      }),
    );
  });
});

describe('the event type header', () => {
  it('an event type is null or storable text of at most 255 characters, whatever header and body are', () => {
    fc.assert(
      fc.property(anyHeader, fc.jsonValue(), fc.string({ unit: anyCharacter }), (value, json, event) => {
        for (const parsed of [json, { event }, { event_type: event }, { type: event, event: '' }]) {
          const bytes = Buffer.from(JSON.stringify(parsed));
          const { eventType: type } = identify(
            genericIdentity,
            {},
            viewWith({ 'x-event-type': value }, bytes),
          );
          if (type === null) continue;
          expect(type).not.toMatch(/\p{Cc}/u);
          expect(type.isWellFormed()).toBe(true);
          expect(type.length).toBeGreaterThan(0);
          expect(type.length).toBeLessThanOrEqual(255);
        }
      }),
    );
  });
});

describe('the headers that are forwarded', () => {
  it('a header that a Connection header names is not forwarded, and every other one is, in order', () => {
    const name = fc.stringMatching(/^X-[A-Za-z0-9]{1,8}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, anyHeader), { maxLength: 40 }),
        fc.array(name, { maxLength: 5 }),
        (pairs, hop) => {
          const raw = [...pairs, ['Connection', hop.join(' , ')] as const].flat();
          const hidden = new Set(hop.map((each) => each.toLowerCase()));
          expect(keepHeaders(raw)).toEqual(pairs.filter(([each]) => !hidden.has(each.toLowerCase())));
        },
      ),
    );
  });
});
