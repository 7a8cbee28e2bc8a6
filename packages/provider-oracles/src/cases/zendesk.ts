import type { ProviderCase } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-zendesk-webhook-signature';

export const providerCase = {
  secret: 'zendesk-oracle-signing-secret-one',
  otherSecret: 'zendesk-oracle-signing-secret-two',
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      toleranceSeconds: 86_400,
      headers: { 'x-zendesk-webhook-id': '01GX', 'x-zendesk-webhook-invocation-id': '8350205582' },
      body: '{"id":"cbe4028c-7239-495d-b020-f22348516046","type":"zen:event-type:ticket.status_changed","detail":{"id":"5158"}}',
      sign: ({ body, secret, at }) => {
        const time = new Date(at).toISOString();
        return {
          headers: {
            'x-zendesk-webhook-signature-timestamp': time,
            [header]: hmac('sha256', secret, 'base64', time, body),
          },
        };
      },
      unsign: withoutHeader(header),
      expects: {
        eventId: '8350205582',
        eventType: 'zen:event-type:ticket.status_changed',
        orderingKey: '5158',
      },
    },
  ],
} satisfies ProviderCase;
