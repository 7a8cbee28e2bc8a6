import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'lemon-squeezy-oracle-secret-number-one',
  otherSecret: 'lemon-squeezy-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-signature'),
      headers: { 'x-event-name': 'order_created' },
      body: '{"meta":{"event_name":"order_created","webhook_id":"8"},"data":{"type":"orders","id":"1"}}',
      expects: { eventId: null, eventType: 'order_created', orderingKey: '1' },
    },
  ],
} satisfies ProviderCase;
