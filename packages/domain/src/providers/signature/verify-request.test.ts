import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { genericScheme, genericTimestampScheme } from '../generic.ts';
import { viewOf } from '../request/request-view.ts';
import { projectScheme, type HmacScheme } from '../scheme.ts';
import { signRequest } from './sign-request.ts';
import { verifyRequest } from './verify-request.ts';

const now = 1_700_000_000_000;
const nowSeconds = now / 1_000;
const secret = { id: 'only', key: "It's a Secret to Everybody" };
const body = Buffer.from('Hello, World!');
const githubSignature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

type Request = { headers: Record<string, string>; body: Uint8Array };

const url = 'https://hooks.example.com/v1/webhooks/1';

function verify(scheme: HmacScheme, request: Request, secrets = [secret], at = now) {
  const headers = (name: string) => request.headers[name];
  const view = viewOf({ method: 'POST', url, query: '', headers, body: Buffer.from(request.body) });
  return verifyRequest([scheme], { secrets }, view, at);
}

/** The headers that a sender adds to `headers` when it signs a body. */
function signHeaders(
  scheme: HmacScheme,
  key: string,
  { body: over, now: at, headers = {} }: { body: Uint8Array; now: number; headers?: Record<string, string> },
) {
  const draft = { method: 'POST', url, headers, body: Buffer.from(over) };
  return signRequest([scheme], { secrets: [{ id: 's', key }] }, draft, at).headers;
}

function verifyGeneric(signature: string, over: Uint8Array = body, secrets = [secret]) {
  return verify(genericScheme, { headers: { 'x-hub-signature-256': signature }, body: over }, secrets);
}

function signed(over: Uint8Array) {
  return signHeaders(genericScheme, secret.key, { body: over, now });
}

function signedAt(timestamp: string, key = secret.key) {
  const hmac = createHmac('sha256', key).update(`${timestamp}.`, 'latin1').update(body);
  return {
    'x-hub-signature-256': `sha256=${hmac.digest('hex')}`,
    'x-webhook-timestamp': timestamp,
  };
}

function verifyAt(headers: Record<string, string>, at = now) {
  return verify(genericTimestampScheme, { headers, body }, [secret], at);
}

describe('published vectors', () => {
  it('the signature of the GitHub example is verified', () => {
    expect(verifyGeneric(githubSignature)).toMatchObject({ kind: 'verified', secretId: 'only' });
  });

  it.each([
    ['sha256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      'sha512',
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
    ['sha1', 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
  ] as const)('test case 2 of RFC 4231 and RFC 2202 is verified with %s', (alg, signature) => {
    const scheme: HmacScheme = { ...genericScheme, alg, signature: { from: 'header:x-signature' } };
    const request = {
      headers: { 'x-signature': signature },
      body: Buffer.from('what do ya want for nothing?'),
    };
    expect(verify(scheme, request, [{ id: 'rfc', key: 'Jefe' }])).toMatchObject({
      kind: 'verified',
      secretId: 'rfc',
    });
  });

  it('the signature of the Slack example is verified', () => {
    const scheme: HmacScheme = {
      kind: 'hmac',
      alg: 'sha256',
      key: 'utf8',
      encoding: 'hex',
      signature: { from: 'header:x-slack-signature', prefix: 'v0=' },
      message: 'v0:{ts}:{body}',
      timestamp: { from: 'header:x-slack-request-timestamp', unit: 'seconds', toleranceSeconds: 300 },
    };
    const headers = {
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'x-slack-request-timestamp': '1531420618',
    };
    const example = Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    );
    const secrets = [{ id: 'slack', key: '8f742231b10e8888abcd99yyyzzz85a5' }];
    const check = verify(scheme, { headers, body: example }, secrets, 1_531_420_618_000);
    expect(check).toMatchObject({ kind: 'verified', secretId: 'slack' });
  });
});

describe('a scheme as data', () => {
  const standardWebhooks: HmacScheme = {
    kind: 'hmac',
    alg: 'sha256',
    key: 'whsec',
    encoding: 'base64',
    signature: { from: 'header:webhook-signature', prefix: 'v1,' },
    message: '{header:webhook-id}.{ts}.{body}',
    timestamp: { from: 'header:webhook-timestamp', unit: 'seconds', toleranceSeconds: 300 },
  };
  const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const secrets = [{ id: 'sw', key }];

  it('a signature of the Standard Webhooks library is verified, and not under another webhook-id', () => {
    const signature = new Webhook(key).sign('msg_1', new Date(now), body.toString());
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(nowSeconds),
      'webhook-signature': signature,
    };
    expect(verify(standardWebhooks, { headers, body }, secrets)).toMatchObject({
      kind: 'verified',
      secretId: 'sw',
    });
    expect(
      verify(standardWebhooks, { headers: { ...headers, 'webhook-id': 'msg_2' }, body }, secrets),
    ).toEqual({
      kind: 'mismatch',
    });
  });

  it('a missing or empty signed header is a mismatch, even if the signature covers an empty value', () => {
    const signature = createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`.${nowSeconds}.`)
      .update(body)
      .digest('base64');
    const headers = { 'webhook-timestamp': String(nowSeconds), 'webhook-signature': `v1,${signature}` };
    expect(verify(standardWebhooks, { headers, body }, secrets).kind).toBe('mismatch');
    expect(verify(standardWebhooks, { headers: { ...headers, 'webhook-id': '' }, body }, secrets).kind).toBe(
      'mismatch',
    );
  });

  it('a base64 signature is verified with and without padding, and any other form is malformed', () => {
    const signed = signHeaders(standardWebhooks, key, { body, now, headers: { 'webhook-id': 'msg_1' } });
    const kindWith = (signature: string) =>
      verify(standardWebhooks, { headers: { ...signed, 'webhook-signature': signature }, body }, secrets)
        .kind;
    const padded = signed['webhook-signature']!;
    expect(padded).toMatch(/=$/);
    expect(kindWith(padded)).toBe('verified');
    expect(kindWith(padded.replace(/=+$/, ''))).toBe('verified');
    for (const wrong of [
      `${padded}=`,
      `${padded} ${padded}`,
      `v1,=${padded.slice(3)}`,
      `v1,${'-'.repeat(43)}=`,
    ]) {
      expect(kindWith(wrong)).toBe('malformed');
    }
  });

  it('a signature covers the bytes of a header that is not ASCII as they were on the wire', () => {
    const id = Buffer.from('é', 'utf8').toString('latin1');
    const signature = createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`é.${nowSeconds}.`)
      .update(body)
      .digest('base64');
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(nowSeconds),
      'webhook-signature': `v1,${signature}`,
    };
    expect(verify(standardWebhooks, { headers, body }, secrets).kind).toBe('verified');
  });

  it.each([
    ['hex', '4a656665'],
    ['base64', 'SmVmZQ=='],
    ['base64', 'SmVmZQ'],
    ['whsec', 'whsec_SmVmZQ=='],
    ['whsec', 'SmVmZQ=='],
    ['utf8', 'Jefe'],
  ] as const)('a key that is %s is decoded', (encoding, text) => {
    const scheme: HmacScheme = { ...genericScheme, key: encoding };
    const signature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    const request = {
      headers: { 'x-hub-signature-256': `sha256=${signature}` },
      body: Buffer.from('what do ya want for nothing?'),
    };
    expect(verify(scheme, request, [{ id: 'k', key: text }]).kind).toBe('verified');
  });

  it.each([
    ['utf8', ''],
    ['hex', ''],
    ['hex', 'zz'],
    ['hex', '4a656665f'],
    ['base64', ''],
    ['base64', '!!!!'],
    ['base64', 'A'],
    ['base64', 'SmVmZQ='],
    ['whsec', 'whsec_'],
  ] as const)('a %s key of %j, which decodes to nothing, neither verifies nor signs', (encoding, text) => {
    const scheme: HmacScheme = { ...genericScheme, key: encoding };
    for (const guess of [
      '',
      text,
      Buffer.from(text, encoding === 'hex' ? 'hex' : 'base64'),
      Buffer.alloc(32, 1),
    ]) {
      const signature = createHmac('sha256', guess).update(body).digest('hex');
      const request = { headers: { 'x-hub-signature-256': `sha256=${signature}` }, body };
      expect(verify(scheme, request, [{ id: 'k', key: text }])).toEqual({ kind: 'mismatch' });
    }
    expect(() => signHeaders(scheme, text, { body, now })).toThrow(RangeError);
  });

  it.each([genericScheme, genericTimestampScheme, standardWebhooks])(
    'signature scheme %# survives a round trip through JSON',
    (scheme) => {
      expect(projectScheme.parse(JSON.parse(JSON.stringify(scheme)))).toEqual(scheme);
    },
  );

  it.each([
    ['an unknown kind', { kind: 'other' }],
    ['an unknown field', { extra: 1 }],
    ['an upper-case header name', { signature: { from: 'header:X-Sig' } }],
    ['an invalid header name', { signature: { from: 'header:x sig' } }],
    ['an empty header name', { signature: { from: 'header:' } }],
    ['an unknown source', { signature: { from: 'cookie:a' } }],
    ['an unknown algorithm', { alg: 'md5' }],
    ['a message without the body', { message: 'x' }],
    ['an empty message', { message: '' }],
    ['an unknown token', { message: '{body}{other}' }],
    ['a stray brace', { message: '{body}}' }],
    ['a timestamp that is signed but not checked', { message: '{ts}{body}' }],
    [
      'a timestamp that is checked but not signed',
      { timestamp: { from: 'header:x-t', unit: 'seconds', toleranceSeconds: 300 } },
    ],
    [
      'an absurd tolerance',
      {
        message: '{ts}{body}',
        timestamp: { from: 'header:x-t', unit: 'seconds', toleranceSeconds: 1e12 },
      },
    ],
  ])('a signature scheme with %s is refused', (_, change) => {
    expect(projectScheme.safeParse({ ...genericScheme, ...change }).success).toBe(false);
  });
});

describe('the signature header', () => {
  it('an absent or empty signature header counts as missing', () => {
    const missing = { kind: 'missing', message: 'no header x-hub-signature-256' };
    expect(verify(genericScheme, { headers: {}, body })).toEqual(missing);
    expect(verifyGeneric('')).toEqual(missing);
  });

  it('a signature in upper-case hex is verified', () => {
    expect(verifyGeneric(`sha256=${githubSignature.slice(7).toUpperCase()}`).kind).toBe('verified');
  });

  it.each([
    githubSignature.slice(7),
    'sha256=',
    'sha1=757107ea0eb2509fc211221cce984b8a37570b6d',
    `SHA256=${githubSignature.slice(7)}`,
    githubSignature.slice(0, -1),
    githubSignature.slice(0, -2),
    `${githubSignature}0`,
    `${githubSignature}00`,
    `${githubSignature} `,
    ` ${githubSignature}`,
    `${githubSignature}\n`,
    `${githubSignature}\0`,
    `sha256= ${githubSignature.slice(7)}`,
    `sha256=0x${githubSignature.slice(9)}`,
    `${githubSignature.slice(0, -1)}g`,
    `${githubSignature.slice(0, -1)}\xff`,
    `${githubSignature}, ${githubSignature}`,
    `sha256=${'0'.repeat(1_000_000)}`,
    'undefined',
  ])('a signature header of the wrong form is malformed (case %#)', (header) => {
    expect(verifyGeneric(header)).toEqual({
      kind: 'malformed',
      message: 'x-hub-signature-256 is not sha256=<hex of 32 bytes>',
    });
  });

  it('a signature header is judged malformed or missing before any secret is tried', () => {
    expect(verifyGeneric('nonsense', body, []).kind).toBe('malformed');
    expect(verify(genericScheme, { headers: {}, body }, []).kind).toBe('missing');
  });
});

describe('the body', () => {
  it('a body is verified byte for byte', () => {
    expect(verifyGeneric(githubSignature, Buffer.from('Hello, World')).kind).toBe('mismatch');
    expect(verifyGeneric(githubSignature, Buffer.from('Hello, World!\n')).kind).toBe('mismatch');
  });

  it('a body that is not UTF-8 is not confused with its replacement characters', () => {
    const raw = Uint8Array.of(0x22, 0xff, 0xfe, 0x00, 0x22);
    expect(verify(genericScheme, { headers: signed(raw), body: raw }).kind).toBe('verified');
    const replaced = Buffer.from(new TextDecoder().decode(raw));
    expect(verify(genericScheme, { headers: signed(raw), body: replaced }).kind).toBe('mismatch');
  });

  it('an empty body is verified', () => {
    const empty = new Uint8Array(0);
    expect(verify(genericScheme, { headers: signed(empty), body: empty }).kind).toBe('verified');
    expect(verify(genericScheme, { headers: signed(empty), body }).kind).toBe('mismatch');
  });

  it('a body of several megabytes is verified', () => {
    const huge = new Uint8Array(8 * 1024 * 1024).fill(0x61);
    expect(verify(genericScheme, { headers: signed(huge), body: huge }).kind).toBe('verified');
    const changed = Uint8Array.from(huge);
    changed[changed.length - 1] = 0x62;
    expect(verify(genericScheme, { headers: signed(huge), body: changed }).kind).toBe('mismatch');
  });
});

describe('several secrets', () => {
  const others = [
    { id: 'new', key: 'another' },
    { id: 'broken', key: '' },
  ];

  it('a signature by any of several secrets is verified, and the result names the secret', () => {
    expect(verifyGeneric(githubSignature, body, [...others, secret])).toMatchObject({
      kind: 'verified',
      secretId: 'only',
    });
    expect(verifyGeneric(githubSignature, body, [secret, ...others])).toMatchObject({
      kind: 'verified',
      secretId: 'only',
    });
  });

  it('a verified signature names the first of two equal secrets', () => {
    expect(verifyGeneric(githubSignature, body, [secret, { ...secret, id: 'same' }])).toMatchObject({
      kind: 'verified',
      secretId: 'only',
    });
  });

  it('a signature that no secret verifies is a mismatch, also when there is no secret', () => {
    expect(verifyGeneric(githubSignature, body, others)).toEqual({ kind: 'mismatch' });
    expect(verifyGeneric(githubSignature, body, [])).toEqual({ kind: 'mismatch' });
  });

  it('a verification without a secret does as much work as with one, so that its time reveals nothing', () => {
    const scheme: HmacScheme = { ...genericScheme, message: '{header:x-id}{body}' };
    const lookupsWith = (secrets: { id: string; key: string }[]) => {
      const names: string[] = [];
      const headers = (name: string) => {
        names.push(name);
        return name === 'x-id' ? '7' : githubSignature;
      };
      const view = viewOf({ method: 'POST', url, query: '', headers, body });
      expect(verifyRequest([scheme], { secrets }, view, now).kind).toBe('mismatch');
      return names;
    };
    expect(lookupsWith([])).toEqual(lookupsWith([secret]));
    expect(lookupsWith([])).toContain('x-id');
  });
});

describe('a required timestamp', () => {
  it.each([0, 299, 300, -299, -300])('a timestamp with an age of %i s is verified', (ageSeconds) => {
    expect(verifyAt(signedAt(String(nowSeconds - ageSeconds))).kind).toBe('verified');
  });

  it.each([
    [301, 'the timestamp is 301 s old; at most 300 s are accepted'],
    [-301, 'the timestamp is 301 s in the future; at most 300 s are accepted'],
    [nowSeconds, `the timestamp is ${nowSeconds} s old; at most 300 s are accepted`],
  ])('a timestamp with an age of %i s is stale', (ageSeconds, message) => {
    expect(verifyAt(signedAt(String(nowSeconds - ageSeconds)))).toEqual({ kind: 'stale', message });
  });

  it('a timestamp is stale one millisecond after the end of its tolerance', () => {
    const headers = signedAt(String(nowSeconds - 300));
    expect(verifyAt(headers, now).kind).toBe('verified');
    expect(verifyAt(headers, now + 1)).toMatchObject({
      kind: 'stale',
      message: expect.stringContaining('301 s old'),
    });
  });

  it('a stale timestamp with a wrong signature is a mismatch', () => {
    expect(verifyAt(signedAt('1', 'another'))).toEqual({ kind: 'mismatch' });
  });

  it('a timestamp other than the signed one is a mismatch', () => {
    const headers = { ...signedAt(String(nowSeconds - 1_000)), 'x-webhook-timestamp': String(nowSeconds) };
    expect(verifyAt(headers)).toMatchObject({ kind: 'mismatch' });
  });

  it('a missing timestamp counts as a wrong signature', () => {
    const { 'x-webhook-timestamp': _, ...headers } = signedAt('');
    expect(verifyAt(headers)).toMatchObject({ kind: 'mismatch' });
    expect(verifyAt(signedAt(''))).toMatchObject({ kind: 'mismatch' });
  });

  it.each([
    'now',
    '-1',
    '1e9',
    'NaN',
    'Infinity',
    `${nowSeconds}.5`,
    ` ${nowSeconds}`,
    `${nowSeconds}, ${nowSeconds}`,
    `0x${nowSeconds.toString(16)}`,
    '9'.repeat(13),
    '9'.repeat(100_000),
    '\xff',
  ])('a malformed timestamp counts as a wrong signature even if it is signed (case %#)', (timestamp) => {
    expect(verifyAt(signedAt(timestamp))).toMatchObject({ kind: 'mismatch' });
  });

  it('a timestamp is ignored unless the project requires it, and must be signed if it does', () => {
    const headers = signHeaders(genericScheme, secret.key, { body, now });
    expect(verify(genericScheme, { headers: { ...headers, 'x-webhook-timestamp': '1' }, body }).kind).toBe(
      'verified',
    );
    expect(verifyAt({ ...headers, 'x-webhook-timestamp': String(nowSeconds) }).kind).toBe('mismatch');
  });
});

describe('signHeaders', () => {
  it('signHeaders returns the signature of the GitHub example', () => {
    expect(signHeaders(genericScheme, secret.key, { body, now })).toEqual({
      'x-hub-signature-256': githubSignature,
    });
  });

  it('signHeaders adds the timestamp in whole seconds, and its signature is verified', () => {
    const headers = signHeaders(genericTimestampScheme, secret.key, { body, now: now + 999 });
    expect(headers['x-webhook-timestamp']).toBe(String(nowSeconds));
    expect(verify(genericTimestampScheme, { headers, body }).kind).toBe('verified');
  });

  it('signHeaders refuses to sign without a header that the scheme signs', () => {
    const scheme: HmacScheme = { ...genericScheme, message: '{header:x-id}{body}' };
    expect(() => signHeaders(scheme, secret.key, { body, now })).toThrow('x-id');
    const headers = signHeaders(scheme, secret.key, { body, now, headers: { 'x-id': '7', 'x-other': '8' } });
    expect(Object.keys(headers).toSorted()).toEqual(['x-hub-signature-256', 'x-id', 'x-other']);
    expect(verify(scheme, { headers, body }).kind).toBe('verified');
  });
});
