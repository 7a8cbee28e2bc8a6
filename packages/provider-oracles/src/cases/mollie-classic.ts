import type { ProviderCase } from '../provider-case.ts';
import { webhookUrl } from '../requests/signed-request.ts';

export const providerCase = {
  secret: 'mollie-classic-oracle-token-one',
  otherSecret: 'mollie-classic-oracle-token-two',
  variants: [
    {
      name: 'payment status',
      covers: 'bearer',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'id=tr_5B8cwPMGnU6qLbRvo7qEZo',
      // Mollie signs nothing here, so the URL carries a token.
      sign: ({ secret }) => ({ query: `token=${secret}` }),
      unsign: (request) => ({ ...request, url: webhookUrl }),
      expects: { eventId: null, eventType: null, orderingKey: 'tr_5B8cwPMGnU6qLbRvo7qEZo' },
    },
  ],
} satisfies ProviderCase;
