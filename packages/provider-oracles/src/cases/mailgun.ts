import type { ProviderCase } from '../provider-case.ts';
import { hmac, unixSeconds } from '../requests/signatures.ts';

const token = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0';

export const providerCase = {
  secret: 'mailgun-oracle-signing-key-one',
  otherSecret: 'mailgun-oracle-signing-key-two',
  variants: [
    {
      name: 'webhooks',
      covers: 'fields',
      toleranceSeconds: 86_400,
      body: (at) =>
        `{"signature":{"timestamp":"${unixSeconds(at)}","token":"${token}","signature":"PLACE"},"event-data":{"event":"delivered","id":"CPgfbmQMTCKtHW6uIWtuVe","message":{"headers":{"message-id":"20130503182626.18666.16540@example.com"}}}}`,
      sign: ({ body, secret, at }) => ({
        body: Buffer.from(
          body.toString().replace('PLACE', hmac('sha256', secret, 'hex', unixSeconds(at), token)),
        ),
      }),
      unsign: (request) => ({
        ...request,
        body: Buffer.from(request.body.toString().replace(/,"signature":"[^"]*"/, '')),
      }),
      covered: [token, token.replace('a8', 'b8')],
      uncovered: ['"event":"delivered"', '"event":"failed"'],
      expects: {
        eventId: 'CPgfbmQMTCKtHW6uIWtuVe',
        eventType: 'delivered',
        orderingKey: '20130503182626.18666.16540@example.com',
      },
    },
  ],
} satisfies ProviderCase;
