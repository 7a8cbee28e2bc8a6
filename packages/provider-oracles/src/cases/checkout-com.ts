import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'checkout-com-oracle-secret-number-one',
  otherSecret: 'checkout-com-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('cko-signature'),
      body: '{"id":"evt_az5sblvku4ge3dwpztvyizgcau","type":"payment_captured","data":{"id":"pay_mbabizu24mvu3mela5njyhpit4","amount":4200}}',
      expects: {
        eventId: 'evt_az5sblvku4ge3dwpztvyizgcau',
        eventType: 'payment_captured',
        orderingKey: 'pay_mbabizu24mvu3mela5njyhpit4',
      },
    },
  ],
} satisfies ProviderCase;
