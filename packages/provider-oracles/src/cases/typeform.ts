import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

export const providerCase = {
  secret: 'typeform-oracle-secret-number-one',
  otherSecret: 'typeform-oracle-secret-number-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody('typeform-signature', { encoding: 'base64', prefix: 'sha256=' }),
      body: '{"event_id":"LtWXD3crgy","event_type":"form_response","form_response":{"form_id":"lT4Z3j","token":"a3a12ec67a1365927098a606107fac15"}}',
      expects: {
        eventId: 'LtWXD3crgy',
        eventType: 'form_response',
        orderingKey: 'a3a12ec67a1365927098a606107fac15',
      },
    },
  ],
} satisfies ProviderCase;
