import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'xendit-oracle-token-number-one',
  otherSecret: 'xendit-oracle-token-number-two',
  variants: [
    {
      name: 'webhooks',
      ...staticToken('x-callback-token'),
      headers: { 'webhook-id': 'xendit-webhook-1' },
      body: '{"event":"payment.succeeded","business_id":"b1","data":{"id":"py-1","reference_id":"order_1","amount":4200}}',
      expects: { eventId: 'xendit-webhook-1', eventType: 'payment.succeeded', orderingKey: 'order_1' },
    },
  ],
} satisfies ProviderCase;
