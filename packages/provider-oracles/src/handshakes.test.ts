import { createRequire } from 'node:module';
import { answerHandshake } from '@hqrelay/domain/providers/handshake';
import { findPreset } from '@hqrelay/domain/providers/presets';
import braintree from 'braintree';
import { expect, it } from 'vitest';
import { loadCase } from './load-cases.ts';
import type { ProviderRequest } from './provider-case.ts';
import { asView } from './relay.ts';
import { signedRequest, webhookUrl } from './requests/signed-request.ts';

/** What the relay answers to a handshake of the provider; null when it is none. */
async function answer(name: string, request: ProviderRequest, isSigned: boolean): Promise<string | null> {
  const { secret, settings = {} } = await loadCase(name);
  const keys = { secrets: [{ id: 'only', key: secret }], settings };
  const reply = answerHandshake(findPreset(name)!.handshakes, keys, asView(request), { isSigned });
  return reply && reply.body.toString();
}

it('the challenge of Braintree is answered as its package answers it', async () => {
  const { secret, settings } = await loadCase('braintree');
  const challenge = '20f9f8ed05f77439fe955c977e4c8a53';
  const gateway = new braintree.BraintreeGateway({
    environment: braintree.Environment.Sandbox,
    merchantId: 'unused',
    publicKey: settings!['public-key']!,
    privateKey: secret,
  });
  const url = `${webhookUrl}?bt_challenge=${challenge}`;
  const request = { method: 'GET', url, headers: {}, body: Buffer.alloc(0) };
  expect(await answer('braintree', request, false)).toBe(gateway.webhookNotification.verify(challenge));
});

it('the validation of Zoom is answered as its package answers it, and only when it is signed', async () => {
  type Answer = { body: string };
  type Package = {
    AwsLambdaReceiver: new (options: { webhooksSecretToken: string }) => {
      start: () => (event: object, context: object) => Promise<Answer>;
    };
  };
  const { AwsLambdaReceiver } = createRequire(import.meta.url)('@zoom/rivet/teamchat') as Package;
  const { secret, variants } = await loadCase('zoom');
  const body = Buffer.from(
    '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1763794800000,"event":"endpoint.url_validation"}',
  );
  const request = await signedRequest(variants[0]!, { secret, at: Date.now(), body });
  const receive = new AwsLambdaReceiver({ webhooksSecretToken: secret }).start();
  const { body: expected } = await receive(
    { body: body.toString(), headers: request.headers, isBase64Encoded: false },
    {},
  );

  const given = await answer('zoom', request, true);
  expect(JSON.parse(given ?? 'null')).toEqual(JSON.parse(expected));
  expect(await answer('zoom', request, false)).toBeNull();
});
