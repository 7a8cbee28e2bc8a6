import type { ProviderCase } from '../provider-case.ts';

export const providerCase = {
  secret: 'unverified-oracle-secret-number-one',
  otherSecret: 'unverified-oracle-secret-number-two',
  variants: [
    {
      name: 'any request',
      covers: 'nothing',
      sign: () => ({}),
      body: '{"type":"order.paid","id":1}',
      expects: { eventId: null, eventType: 'order.paid', orderingKey: null },
    },
  ],
} satisfies ProviderCase;
