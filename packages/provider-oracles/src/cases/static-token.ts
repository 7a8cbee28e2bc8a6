import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const body = '{"type":"order.paid","id":1}';
const expects = { eventId: null, eventType: 'order.paid', orderingKey: null };

export const providerCase = {
  secret: 'static-token-oracle-number-one',
  otherSecret: 'static-token-oracle-number-two',
  variants: [
    { name: 'X-Webhook-Token', ...staticToken('x-webhook-token'), body, expects },
    {
      name: 'Authorization: Bearer',
      covers: 'bearer',
      sign: ({ secret }) => ({ headers: { authorization: `Bearer ${secret}` } }),
      unsign: withoutHeader('authorization'),
      body,
      expects,
    },
  ],
} satisfies ProviderCase;
