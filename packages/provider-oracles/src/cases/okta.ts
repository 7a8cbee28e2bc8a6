import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'okta-oracle-token-number-one',
  otherSecret: 'okta-oracle-token-number-two',
  variants: [
    {
      name: 'event hooks',
      ...staticToken('authorization'),
      body: '{"eventType":"com.okta.event_hook","eventId":"8994ebfe-1","data":{"events":[{"uuid":"b1","eventType":"user.lifecycle.create"}]}}',
      expects: { eventId: '8994ebfe-1', eventType: 'user.lifecycle.create', orderingKey: null },
    },
  ],
} satisfies ProviderCase;
