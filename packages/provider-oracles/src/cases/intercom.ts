import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'intercom-oracle-secret-number-one',
  otherSecret: 'intercom-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-hub-signature', { alg: 'sha1', prefix: 'sha1=' }),
      body: '{"type":"notification_event","id":"notif_1","topic":"conversation.user.created","data":{"item":{"type":"conversation","id":"1029"}}}',
      expects: { eventId: 'notif_1', eventType: 'conversation.user.created', orderingKey: '1029' },
    },
  ],
} satisfies ProviderCase;
