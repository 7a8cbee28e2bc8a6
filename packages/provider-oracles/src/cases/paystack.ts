import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'paystack-oracle-secret-number-one',
  otherSecret: 'paystack-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-paystack-signature', { alg: 'sha512' }),
      body: '{"event":"charge.success","data":{"id":302961,"reference":"qTPrJoy9Bx","amount":4200,"currency":"NGN"}}',
      expects: { eventId: null, eventType: 'charge.success', orderingKey: 'qTPrJoy9Bx' },
    },
  ],
} satisfies ProviderCase;
