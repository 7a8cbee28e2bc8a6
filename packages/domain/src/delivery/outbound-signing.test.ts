import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { deliveryHeaders, newSigningSecret, signingKeyOf, signStandardWebhook } from './outbound-signing.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const key = signingKeyOf(secret);
const id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

function valuesOf(headers: readonly (readonly [string, string])[], name: string): string[] {
  return headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
}

describe('newSigningSecret', () => {
  it('a new signing secret is whsec_ and 32 random bytes in base64', () => {
    const secrets = Array.from({ length: 100 }, newSigningSecret);
    for (const each of secrets) {
      expect(each).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(each.slice(6), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(100);
  });
});

describe('signStandardWebhook', () => {
  const example = {
    keys: [key],
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  };

  it('the signature of the Standard Webhooks example equals the one in the specification', () => {
    expect(signStandardWebhook(example)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('a signing secret without its prefix has the same key', () => {
    expect(signingKeyOf(secret.slice(6))).toEqual(key);
  });

  it('each key gives one signature, and spaces separate them', () => {
    const keys = [signingKeyOf(newSigningSecret()), key];
    const signatures = signStandardWebhook({ ...example, keys }).split(' ');
    expect(signatures).toHaveLength(2);
    expect(signatures[1]).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
    expect(signStandardWebhook({ ...example, keys: [] })).toBe('');
  });

  it.each(['', '{}', 'şş 🦊', 'a\0b', 'x'.repeat(1_000_000)])(
    'the signature of body %# equals the one of the Standard Webhooks library',
    (text) => {
      const fresh = newSigningSecret();
      const signature = signStandardWebhook({
        ...example,
        keys: [signingKeyOf(fresh)],
        body: Buffer.from(text),
      });
      expect(signature).toBe(
        new Webhook(fresh).sign(example.id, new Date(example.timestampSeconds * 1_000), text),
      );
    },
  );

  it('the signature of a body that is not UTF-8 covers its bytes', () => {
    const raw = Uint8Array.of(0x22, 0xff, 0x22);
    const replaced = Buffer.from(new TextDecoder().decode(raw));
    expect(signStandardWebhook({ ...example, body: raw })).not.toBe(
      signStandardWebhook({ ...example, body: replaced }),
    );
  });

  it.each(['', 'whsec_', 'whsec_!!!!', 'whsec_AA', 'whsec_ş', `${secret}\n`])(
    'the signing secret %j is refused without being shown',
    (wrong) => {
      const read = () => signingKeyOf(wrong);
      expect(read).toThrow(RangeError);
      expect(read).toThrow('a signing secret is whsec_ and base64, which this one is not');
    },
  );
});

describe('deliveryHeaders', () => {
  const now = Date.now();
  const attempt = {
    providerHeaders: [
      ['Content-Type', 'application/json'],
      ['X-Hub-Signature-256', 'sha256=00'],
    ] as [string, string][],
    fixedHeaders: [['X-Tenant', 'acme']] as [string, string][],
    signingKeys: [key],
    webhookLogId: id,
    attemptNum: 3,
    correlationId: 'c-1',
    body: Buffer.from('{"a":1}'),
    now,
  };
  const timestamp = String(Math.floor(now / 1_000));

  it('a request carries the provider headers untouched, then the fixed headers, then those of the relay', () => {
    const signature = signStandardWebhook({
      keys: [key],
      id,
      timestampSeconds: Number(timestamp),
      body: attempt.body,
    });
    expect(deliveryHeaders(attempt)).toEqual([
      ['Content-Type', 'application/json'],
      ['X-Hub-Signature-256', 'sha256=00'],
      ['X-Tenant', 'acme'],
      ['webhook-id', id],
      ['webhook-timestamp', timestamp],
      ['webhook-signature', signature],
      ['x-hqrelay-attempt', '3'],
      ['x-correlation-id', 'c-1'],
    ]);
  });

  it('the Standard Webhooks library verifies a request with either secret during a rotation', () => {
    const fresh = newSigningSecret();
    const headers = Object.fromEntries(
      deliveryHeaders({ ...attempt, signingKeys: [signingKeyOf(fresh), key] }),
    );
    expect(new Webhook(secret).verify(attempt.body.toString(), headers)).toEqual({ a: 1 });
    expect(new Webhook(fresh).verify(attempt.body.toString(), headers)).toEqual({ a: 1 });
    expect(() => new Webhook(newSigningSecret()).verify(attempt.body.toString(), headers)).toThrow(
      'No matching signature found',
    );
  });

  it.each(['webhook-id', 'Webhook-Timestamp', 'WEBHOOK-SIGNATURE'])(
    'a provider header %s is kept, and the three of the relay get the prefix hqrelay-',
    (name) => {
      const headers = deliveryHeaders({ ...attempt, providerHeaders: [[name, 'theirs']] });
      expect(headers[0]).toEqual([name, 'theirs']);
      expect(valuesOf(headers, name.toLowerCase())).toEqual(['theirs']);
      expect(valuesOf(headers, 'hqrelay-webhook-id')).toEqual([id]);
      expect(valuesOf(headers, 'hqrelay-webhook-timestamp')).toEqual([timestamp]);
      expect(valuesOf(headers, 'hqrelay-webhook-signature')).toHaveLength(1);
      expect(headers.filter(([each]) => /^webhook-/i.test(each))).toHaveLength(1);
    },
  );

  it('neither provider headers nor fixed headers can pass as headers of the relay', () => {
    const forged: [string, string][] = [
      ['X-HQRelay-Attempt', '99'],
      ['x-hqrelay-sequence', '99'],
      ['X-Correlation-ID', 'forged'],
      ['HQRelay-Webhook-Signature', 'v1,forged'],
      ['hqrelay-webhook-id', 'forged'],
    ];
    for (const headers of [
      deliveryHeaders({ ...attempt, providerHeaders: forged }),
      deliveryHeaders({ ...attempt, fixedHeaders: [...forged, ['Webhook-Id', 'forged']] }),
      deliveryHeaders({ ...attempt, providerHeaders: [...forged, ['webhook-id', 'theirs']] }),
    ]) {
      expect(headers.flat().join()).not.toContain('forged');
      expect(valuesOf(headers, 'x-correlation-id')).toEqual(['c-1']);
      expect(valuesOf(headers, 'x-hqrelay-attempt')).toEqual(['3']);
      expect(valuesOf(headers, 'x-hqrelay-sequence')).toEqual([]);
    }
  });

  it('a fixed header replaces a provider header of the same name in any case', () => {
    const headers = deliveryHeaders({
      ...attempt,
      providerHeaders: [
        ['Authorization', 'theirs'],
        ['authorization', 'theirs'],
      ],
      fixedHeaders: [['AUTHORIZATION', 'Bearer ours']],
    });
    expect(valuesOf(headers, 'authorization')).toEqual(['Bearer ours']);
  });

  it.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Expect'])(
    'a fixed %s header is dropped, because it would break the request',
    (name) => {
      const headers = deliveryHeaders({ ...attempt, fixedHeaders: [[name, '1']] });
      expect(valuesOf(headers, name.toLowerCase())).toEqual([]);
    },
  );

  it('repeated provider headers are kept in their order', () => {
    const headers = deliveryHeaders({
      ...attempt,
      providerHeaders: [
        ['X-A', '1'],
        ['X-B', '2'],
        ['x-a', '3'],
      ],
    });
    expect(headers.slice(0, 3)).toEqual([
      ['X-A', '1'],
      ['X-B', '2'],
      ['x-a', '3'],
    ]);
  });

  it('a request carries no signature header when the endpoint has no secret', () => {
    const headers = deliveryHeaders({ ...attempt, signingKeys: [] });
    expect(valuesOf(headers, 'webhook-signature')).toEqual([]);
    expect(valuesOf(headers, 'webhook-id')).toEqual([id]);
  });
});
