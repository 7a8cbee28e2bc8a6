import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'bitbucket-oracle-secret-number-one',
  otherSecret: 'bitbucket-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('x-hub-signature', { prefix: 'sha256=' }),
      headers: {
        'x-event-key': 'repo:push',
        'x-request-uuid': '9d0c6a0e-3a8c-4f6c-a27f-2b7a2f5a3f11',
        'x-hook-uuid': '4a1c',
        'x-attempt-number': '1',
      },
      body: '{"repository":{"uuid":"{673a6070-3421-46c9-9d48-90745f7bfe8e}","full_name":"team/demo"}}',
      expects: {
        eventId: '9d0c6a0e-3a8c-4f6c-a27f-2b7a2f5a3f11',
        eventType: 'repo:push',
        orderingKey: '{673a6070-3421-46c9-9d48-90745f7bfe8e}',
      },
    },
  ],
} satisfies ProviderCase;
