// Properties of headers that single providers send, and of those that are credentials or belong to a trace.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCredentials, restoreCredentials } from './forwarded-credentials.ts';
import { keepHeaders } from './forwarded-headers.ts';
import { formatTraceparent, parseTraceparent } from '../delivery/trace-context.ts';
import { viewOf } from '../providers/request/request-view.ts';
import type { HmacScheme, Scheme } from '../providers/scheme.ts';
import { signRequest } from '../providers/signature/sign-request.ts';
import { verifyRequest } from '../providers/signature/verify-request.ts';

// The same values in every run: a search for new faults is not a check of a change.
fc.configureGlobal({ seed: 20_261_122 });

const now = 1_790_000_000_000;
const secrets = [{ id: 'secret-1', key: 'correct horse battery staple' }];
const body = Buffer.from('{"n":1}');

/** A header value as Node gives it: one Latin-1 character for each byte, no CR, LF or NUL. */
const headerValue = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 1, max: 0xff })), {
    maxLength: 300,
  })
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10 && byte !== 13)).toString('latin1'));

function check(scheme: Scheme, headers: Record<string, string | undefined>) {
  const view = viewOf({ method: 'POST', url: '', query: '', headers: (name) => headers[name], body });
  return verifyRequest([scheme], { secrets }, view, now).kind;
}

describe('a header with a list of signatures', () => {
  const scheme: HmacScheme = {
    kind: 'hmac',
    alg: 'sha256',
    key: 'utf8',
    encoding: 'hex',
    signature: { from: 'header:s', list: ',', pair: { tag: 'v1', separator: '=' } },
    message: '{ts}.{body}',
    timestamp: { from: 'signature:t', unit: 'seconds', toleranceSeconds: 300 },
  };
  const signed = signRequest([scheme], { secrets }, { method: 'POST', url: '', headers: {}, body }, now);
  const right = signed.headers['s']!;
  const junk = fc
    .array(fc.oneof(headerValue, fc.constantFrom('v1=', 't=', '=', 'v1', `v1=${'a'.repeat(64)}`)))
    .map((items) =>
      items.map((item) => item.replaceAll(',', ';')).filter((item) => !item.trim().startsWith('t=')),
    );

  it('a list of other items never verifies', () => {
    fc.assert(
      fc.property(junk, (items) => {
        expect(['missing', 'malformed', 'mismatch']).toContain(check(scheme, { s: items.join(',') }));
      }),
    );
  });

  it('the right signature among a dozen other items verifies, and past sixteen it is not read', () => {
    fc.assert(
      fc.property(junk, (items) => {
        const few = items.slice(0, 12);
        expect(check(scheme, { s: [right, ...few].join(',') })).toBe('verified');
      }),
    );
    const many = Array.from({ length: 16 }, () => 'v1=00').join(',');
    expect(check(scheme, { s: `${many},${right}` })).not.toBe('verified');
  });
});

describe('a header with a token', () => {
  const token: Scheme = { kind: 'token', from: 'header:x-token' };
  const basic: Scheme = { kind: 'basic' };
  const key = secrets[0]!.key;

  it('only the secret itself is a right token', () => {
    fc.assert(
      fc.property(
        fc.oneof(headerValue, fc.constantFrom(key.slice(1), `${key} `, key.toUpperCase())),
        (value) => {
          expect(check(token, { 'x-token': value })).toBe(value === '' ? 'missing' : 'mismatch');
        },
      ),
    );
    expect(check(token, { 'x-token': key })).toBe('verified');
  });

  it('only the secret in base64 is right after Basic', () => {
    const encoded = Buffer.from(key).toString('base64');
    const other = fc.oneof(headerValue, fc.base64String()).filter((text) => text.trim() !== encoded);
    fc.assert(
      fc.property(other, fc.constantFrom('Basic ', 'basic  ', 'Bearer ', ''), (value, prefix) => {
        expect(check(basic, { authorization: prefix + value })).not.toBe('verified');
      }),
    );
    expect(check(basic, { authorization: `Basic ${encoded}` })).toBe('verified');
  });
});

describe('headers that hold a secret of the project', () => {
  const name = fc.constantFrom('Authorization', 'X-Token', 'X-Any-Other');
  const around = fc.oneof(headerValue, fc.constantFrom('', 'Bearer ', 'token=', '"', 'Basic '));
  const key = secrets[0]!.key;
  const form = fc.constantFrom(key, Buffer.from(key).toString('base64'), encodeURIComponent(key));

  it('no part that is stored contains the secret, and what is put back is what came', () => {
    fc.assert(
      fc.property(name, around, form, around, (header, before, secret, after) => {
        const raw = ['Host', 'relay', header, before + secret + after];
        expect(keepHeaders(raw, secrets)).toEqual([]);
        const places = findCredentials(raw, secrets);
        expect(JSON.stringify(places)).not.toContain(secret);
        if (places.length > 0) expect(restoreCredentials(places, secrets)).toEqual([raw.slice(2)]);
      }),
    );
  });
});

describe('the traceparent header', () => {
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));

  it('a valid traceparent keeps its ids and its flag', () => {
    const valid = fc
      .tuple(hex(32), hex(16), fc.boolean())
      .filter(([trace, span]) => !/^0+$/.test(trace) && !/^0+$/.test(span));
    fc.assert(
      fc.property(valid, ([traceId, spanId, isSampled]) => {
        const context = { traceId, spanId, isSampled };
        expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });

  it('whatever the header is, a context has ids of the right form, or there is none', () => {
    const nearly = fc
      .tuple(hex(2), hex(32), hex(16), hex(2), fc.oneof(headerValue, fc.constant('')))
      .map(([version, trace, span, flags, rest]) => `${version}-${trace}-${span}-${flags}${rest}`);
    fc.assert(
      fc.property(fc.oneof(headerValue, nearly), (value) => {
        const context = parseTraceparent(value);
        if (!context) return;
        expect(context.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
        expect(context.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
      }),
    );
  });
});
