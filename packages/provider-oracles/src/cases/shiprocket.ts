import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'shiprocket-oracle-token-number-one',
  otherSecret: 'shiprocket-oracle-token-number-two',
  variants: [
    {
      name: 'tracking updates',
      ...staticToken('x-api-key'),
      body: '{"awb":"19041424751540","current_status":"Delivered","sr_order_id":348456385,"order_id":"1373900"}',
      expects: { eventId: null, eventType: 'Delivered', orderingKey: '19041424751540' },
    },
  ],
} satisfies ProviderCase;
