import { WebhooksHelper } from 'square';
import type { ProviderCase } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-square-hmacsha256-signature';

export const providerCase = {
  secret: 'square-oracle-signature-key-one',
  otherSecret: 'square-oracle-signature-key-two',
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      body: '{"merchant_id":"M1","type":"payment.updated","event_id":"6a8f5f28-54a1-4eb0-a98a-3111513fd4fc","data":{"type":"payment","id":"KkAkhdMsgzn59SM8A89WgKwekxLZY"}}',
      sign: ({ body, secret, url }) => ({
        headers: { [header]: hmac('sha256', secret, 'base64', url, body) },
      }),
      unsign: withoutHeader(header),
      expects: {
        eventId: '6a8f5f28-54a1-4eb0-a98a-3111513fd4fc',
        eventType: 'payment.updated',
        orderingKey: 'KkAkhdMsgzn59SM8A89WgKwekxLZY',
      },
      sdk: {
        name: 'square: WebhooksHelper.verifySignature',
        mistakes: hashesText,
        verify: ({ body, headers, url }, secret) =>
          WebhooksHelper.verifySignature({
            requestBody: body.toString(),
            signatureHeader: headers[header]!,
            signatureKey: secret,
            notificationUrl: url,
          }),
      },
    },
  ],
} satisfies ProviderCase;
