import { Stripe } from 'stripe';
import type { ProviderCase } from '../provider-case.ts';
import { hmac, unixSeconds } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const stripe = new Stripe('sk_test_unused');
const header = 'stripe-signature';

export const providerCase = {
  secret: 'whsec_hqrelay_oracle_stripe_1',
  otherSecret: 'whsec_hqrelay_oracle_stripe_2',
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      toleranceSeconds: 300,
      body: '{"id":"evt_1Q2w","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_3Q2w","amount":4200}}}',
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        return {
          headers: { [header]: `t=${seconds},v1=${hmac('sha256', secret, 'hex', seconds, '.', body)}` },
        };
      },
      unsign: withoutHeader(header),
      several: (request, wrong) => {
        const [, wrongSignature] = wrong.headers[header]!.split(',');
        const [time, signature] = request.headers[header]!.split(',');
        return {
          ...request,
          headers: { ...request.headers, [header]: `${time},${wrongSignature},${signature}` },
        };
      },
      expects: { eventId: 'evt_1Q2w', eventType: 'payment_intent.succeeded', orderingKey: 'pi_3Q2w' },
      sdk: {
        name: 'stripe: webhooks.constructEvent, webhooks.generateTestHeaderString',
        mistakes: hashesText,
        sign: ({ body, secret, at }) => ({
          headers: {
            [header]: stripe.webhooks.generateTestHeaderString({
              payload: body.toString(),
              secret,
              timestamp: Math.floor(at / 1_000),
            }),
          },
        }),
        verify: ({ body, headers }, secret) => stripe.webhooks.constructEvent(body, headers[header]!, secret),
        toleranceSeconds: 300,
      },
    },
  ],
} satisfies ProviderCase;
