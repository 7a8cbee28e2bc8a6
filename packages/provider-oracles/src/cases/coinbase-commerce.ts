import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'coinbase-commerce-oracle-secret-number-one',
  otherSecret: 'coinbase-commerce-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-cc-webhook-signature'),
      body: '{"id":1,"attempt_number":1,"event":{"id":"24934862-d980-46cb-9402-43c81b0cdba6","type":"charge:created","data":{"code":"66BEOV2A"}}}',
      expects: {
        eventId: '24934862-d980-46cb-9402-43c81b0cdba6',
        eventType: 'charge:created',
        orderingKey: '66BEOV2A',
      },
    },
  ],
} satisfies ProviderCase;
