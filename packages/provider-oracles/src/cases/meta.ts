import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'meta-oracle-secret-number-one',
  otherSecret: 'meta-oracle-secret-number-two',
  variants: [
    {
      name: 'Graph webhooks',
      ...signedBody('x-hub-signature-256', { prefix: 'sha256=' }),
      body: '{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"field":"messages","value":{"text":"caf\\u00e9"}}]}]}',
      expects: {
        eventId: null,
        eventType: 'whatsapp_business_account.messages',
        orderingKey: '102290129340398',
      },
    },
  ],
} satisfies ProviderCase;
