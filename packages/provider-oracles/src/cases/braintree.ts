import braintree from 'braintree';
import { createHash } from 'node:crypto';
import type { ProviderCase, ProviderRequest } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';

const publicKey = 'oracle_public_key';

function gatewayOf(privateKey: string) {
  return new braintree.BraintreeGateway({
    environment: braintree.Environment.Sandbox,
    merchantId: 'unused',
    publicKey,
    privateKey,
  });
}

const payload = (xml: string) => Buffer.from(xml).toString('base64');
const form = (fields: Record<string, string>) => Buffer.from(new URLSearchParams(fields).toString());
const xml = `<notification><timestamp type="datetime">2026-11-22T07:00:00Z</timestamp><kind>check</kind><subject><check type="boolean">true</check></subject></notification>`;
const signed = payload(xml);

export const providerCase = {
  secret: 'oracle_private_key_one',
  otherSecret: 'oracle_private_key_two',
  settings: { 'public-key': publicKey },
  variants: [
    {
      name: 'webhooks',
      covers: 'fields',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form({ bt_payload: signed, other: 'none' }).toString(),
      sign: ({ body, secret }) => {
        const fields = Object.fromEntries(new URLSearchParams(body.toString()));
        const key = createHash('sha1').update(secret).digest();
        const signature = hmac('sha1', key, 'hex', fields.bt_payload!);
        return { body: form({ ...fields, bt_signature: `${publicKey}|${signature}` }) };
      },
      unsign: (request: ProviderRequest) => {
        const fields = Object.fromEntries(new URLSearchParams(request.body.toString()));
        delete fields.bt_signature;
        return { ...request, body: form(fields) };
      },
      several: (request: ProviderRequest) => {
        const fields = Object.fromEntries(new URLSearchParams(request.body.toString()));
        const bt_signature = `another_key|${'0'.repeat(40)}&${fields.bt_signature}`;
        return { ...request, body: form({ ...fields, bt_signature }) };
      },
      covered: [encodeURIComponent(signed), encodeURIComponent(payload(xml.replace('07:00', '08:00')))],
      uncovered: ['other=none', 'other=some'],
      expects: { eventId: null, eventType: null, orderingKey: null },
      sdk: {
        name: 'braintree: webhookNotification.parse, webhookTesting.sampleNotification',
        sign: async ({ secret }) => {
          const sample = await gatewayOf(secret).webhookTesting.sampleNotification('check', 'unused');
          return { body: form({ ...sample }) };
        },
        verify: ({ body }: ProviderRequest, secret) => {
          const fields = Object.fromEntries(new URLSearchParams(body.toString()));
          return gatewayOf(secret).webhookNotification.parse(fields.bt_signature!, fields.bt_payload!);
        },
      },
    },
  ],
} satisfies ProviderCase;
