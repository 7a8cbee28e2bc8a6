import type { Preset } from '@hqrelay/domain/providers/preset';
import { expect, it } from 'vitest';
import type { ProviderCase } from './provider-case.ts';
import { relayIdentity, relayVerdict } from './relay.ts';
import { signedTimeAndBody } from './requests/signed-body.ts';
import { signedRequest } from './requests/signed-request.ts';
import { tamperingsOf } from './requests/tamperings.ts';

/** The row of a provider that signs the time and the body. */
const preset: Preset = {
  name: 'acme-pay',
  title: 'Acme Pay',
  schemes: [
    {
      kind: 'hmac',
      alg: 'sha256',
      key: 'utf8',
      encoding: 'hex',
      signature: { from: 'header:acme-signature', prefix: 'v2=' },
      timestamp: { from: 'header:acme-time', unit: 'seconds', toleranceSeconds: 600 },
      message: 'acme|{ts}|{body}',
    },
  ],
  strength: 'body',
  webhookId: ['{json:/event/id}'],
  eventType: ['{json:/event/kind}'],
  orderingKey: ['{json:/account}'],
  changedBody: 'reject',
  idempotencyTtlSeconds: 86_400,
  secret: { what: 'the signing secret', from: 'provider' },
  setUp: ['Webhooks, Add: URL {webhookUrl}.'],
  customerVerifies: 'acme-signature',
  special: [],
  evidence: 'docs',
  unverified: [],
};

/** What `cases/acme-pay.ts` holds. */
const providerCase: ProviderCase = {
  secret: 'acme-oracle-secret-one',
  otherSecret: 'acme-oracle-secret-two',
  variants: [
    {
      name: 'webhooks',
      ...signedTimeAndBody(
        { signature: 'acme-signature', time: 'acme-time' },
        { before: 'acme|', between: '|', prefix: 'v2=' },
      ),
      toleranceSeconds: 600,
      body: '{"event":{"id":"e1","kind":"paid"},"account":"a1"}',
      expects: { eventId: 'e1', eventType: 'paid', orderingKey: 'a1' },
    },
  ],
};

it('a new provider is one row and one case: engine and tests take both without a line of their own', async () => {
  const [variant] = providerCase.variants;
  const { secret } = providerCase;
  const now = Date.now();
  const request = await signedRequest(variant!, { secret, at: now });
  expect(relayVerdict(preset, providerCase, variant!, { request, secret, now })).toBe('verified');
  expect(relayIdentity(preset, providerCase, request)).toEqual({
    webhookId: 'e1',
    eventType: 'paid',
    orderingKey: 'a1',
  });
  const tamperings = await tamperingsOf(providerCase, variant!, now);
  expect(tamperings).toHaveLength(7);
  for (const { name, request: tampered, secret: key, verdict } of tamperings) {
    const kind = relayVerdict(preset, providerCase, variant!, { request: tampered, secret: key, now });
    expect([name, kind]).toEqual([name, verdict]);
  }
});
