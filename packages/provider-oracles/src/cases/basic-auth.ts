import type { ProviderCase } from '../provider-case.ts';
import { withoutHeader } from '../requests/unsigned.ts';

export const providerCase = {
  secret: 'relay:pässword number one',
  otherSecret: 'relay:pässword number two',
  variants: [
    {
      name: 'Authorization: Basic',
      covers: 'bearer',
      sign: ({ secret }) => ({
        headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` },
      }),
      unsign: withoutHeader('authorization'),
      body: '{"type":"order.paid","id":1}',
      expects: { eventId: null, eventType: 'order.paid', orderingKey: null },
    },
  ],
} satisfies ProviderCase;
