import { describe, expect, it } from 'vitest';
import { diagnoseMismatch } from './diagnose-mismatch.ts';
import { explainReason, formatReason } from './rejection-reason.ts';
import { genericScheme, genericTimestampScheme } from '../providers/generic.ts';
import { signRequest } from '../providers/signature/sign-request.ts';
import type { Scheme } from '../providers/scheme.ts';

function signInbound(scheme: Scheme, key: string, { body, now: at }: { body: Buffer; now: number }) {
  const draft = { method: 'POST', url: '', headers: {}, body };
  return signRequest([scheme], { secrets: [{ id: 's', key }] }, draft, at).headers;
}

const now = Date.UTC(2026, 10, 22);
const active = { id: 'active', key: 'the active secret' };
const expired = {
  id: 'old',
  key: 'an expired secret',
  how: 'expired' as const,
  retiredAt: now - 60_000,
};

/** The reason for a body that was sent as `sent` and signed as `signed`. */
function diagnose(signed: string, sent: string, key = active.key) {
  const headers = signInbound(genericScheme, key, { body: Buffer.from(signed), now });
  return diagnoseMismatch({
    schemes: [genericScheme],
    settings: {},
    request: {
      method: 'POST',
      url: '',
      query: '',
      headers: (name) => headers[name],
      body: Buffer.from(sent),
    },
    receivedAt: now,
    active: [active],
    retired: [expired],
  });
}

describe('the diagnosis of a signature that matches no active secret', () => {
  it('a signature of an expired secret names the secret and when it expired', () => {
    expect(diagnose('{"a":1}', '{"a":1}', expired.key)).toEqual({
      code: 'signature.retired_secret',
      words: 'the secret old expired at 2026-11-21T23:59:00.000Z',
    });
  });

  it('a stale signature of an expired secret names the secret too', () => {
    const body = Buffer.from('{}');
    const headers = signInbound(genericTimestampScheme, expired.key, { body, now: now - 3_600_000 });
    const reason = diagnoseMismatch({
      schemes: [genericTimestampScheme],
      settings: {},
      request: { method: 'POST', url: '', query: '', headers: (name) => headers[name], body },
      receivedAt: now,
      active: [active],
      retired: [expired],
    });
    expect(reason?.code).toBe('signature.retired_secret');
  });

  it.each([
    ['compact JSON sent with spaces', '{"a":1,"b":[2,3]}', '{"a": 1, "b": [2, 3]}'],
    ["Python's JSON sent compact", '{"a": "x, y: z", "b": [2, 3]}', '{"a":"x, y: z","b":[2,3]}'],
    ['indented JSON sent compact', '{\n  "a": 1\n}', '{"a":1}'],
    ['escaped characters sent as UTF-8', '{"a":"\\u20b9\\ud83d\\ude00"}', '{"a":"₹😀"}'],
    ['UTF-8 sent as escaped characters', '{"a":"₹😀"}', '{"a":"\\u20b9\\ud83d\\ude00"}'],
  ])('a signature of %s is that of a body whose JSON was serialised again', (_name, signed, sent) => {
    expect(diagnose(signed, sent)).toEqual({ code: 'body.altered', words: 'its JSON was serialised again' });
  });

  it.each([
    ['{"a":1}\n', '{"a":1}', 'a newline at its end was removed'],
    ['a=1&b=2', 'a=1&b=2\r\n', 'a newline was added at its end'],
    ['caf\xe9', 'caf\xe9\n', 'a newline was added at its end'],
  ])('a signature of %j on the body %j says that %s', (signed, sent, words) => {
    expect(diagnose(signed, sent)).toEqual({ code: 'body.altered', words });
  });

  it.each([
    ['a wrong secret', '{"a": 1}', '{"a": 1}', 'a secret of another project'],
    ['another JSON value', '{"a":1}', '{"a":2}', active.key],
    ['another text', 'a', 'b', active.key],
  ])('a signature of %s has no diagnosis', (_name, signed, sent, key) => {
    expect(diagnose(signed, sent, key)).toBeUndefined();
  });
});

describe('the stored form of a reason', () => {
  it('a stored reason begins with its code, which has an explanation', () => {
    const reason = formatReason({ code: 'body.altered', words: 'its JSON was serialised again' });
    expect(reason).toBe('body.altered its JSON was serialised again');
    expect(explainReason(reason)).toEqual({ code: 'body.altered', explanation: expect.any(String) });
    expect(explainReason(formatReason({ code: 'signature.missing' }))?.code).toBe('signature.missing');
  });

  it('a reason of an earlier version has no code and no explanation', () => {
    expect(explainReason('signature wrong')).toBeUndefined();
    expect(explainReason('constructor')).toBeUndefined();
  });
});
