import { parse } from 'gocardless-nodejs/webhooks';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

const header = 'webhook-signature';

export const providerCase = {
  secret: 'gocardless-oracle-secret-one',
  otherSecret: 'gocardless-oracle-secret-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody(header),
      body: '{"events":[{"id":"EV1","resource_type":"payments","action":"confirmed","links":{"payment":"PM1"}}],"meta":{"webhook_id":"WB1"}}',
      expects: { eventId: 'WB1', eventType: 'payments.confirmed', orderingKey: null },
      sdk: {
        name: 'gocardless-nodejs: webhooks.parse',
        verify: ({ body, headers }, secret) => parse(body, secret, headers[header]!).length > 0,
      },
    },
  ],
} satisfies ProviderCase;
