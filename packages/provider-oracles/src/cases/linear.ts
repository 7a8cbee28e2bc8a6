import { LinearWebhookClient } from '@linear/sdk/webhooks';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';

const header = 'linear-signature';

export const providerCase = {
  secret: 'lin_wh_oracle_secret_one',
  otherSecret: 'lin_wh_oracle_secret_two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody(header),
      hasTimeInBody: true,
      toleranceSeconds: 8 * 3_600,
      headers: { 'linear-delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72', 'linear-event': 'Issue' },
      body: (at) =>
        `{"action":"update","type":"Issue","data":{"id":"2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9"},"webhookTimestamp":${at}}`,
      expects: {
        eventId: '234d1a4e-b617-4388-90fe-adc3633d6b72',
        eventType: 'Issue.update',
        orderingKey: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
      },
      sdk: {
        name: '@linear/sdk: LinearWebhookClient.verify',
        verify: ({ body, headers }, secret) =>
          new LinearWebhookClient(secret).verify(
            body,
            headers[header]!,
            (JSON.parse(body.toString()) as { webhookTimestamp: number }).webhookTimestamp,
          ),
        toleranceSeconds: 60,
      },
    },
  ],
} satisfies ProviderCase;
