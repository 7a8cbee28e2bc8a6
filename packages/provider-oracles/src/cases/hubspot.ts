import signature from '@hubspot/api-client/lib/src/utils/signature.js';
import type { ProviderCase } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-hubspot-signature-v3';
const timeHeader = 'x-hubspot-request-timestamp';

export const providerCase = {
  secret: 'hubspot-oracle-client-secret-one',
  otherSecret: 'hubspot-oracle-client-secret-two',
  variants: [
    {
      name: 'v3',
      covers: 'body',
      toleranceSeconds: 300,
      body: '[{"eventId":100,"subscriptionType":"contact.creation","objectId":123,"occurredAt":1763794800000}]',
      sign: ({ body, secret, url, at }) => ({
        headers: {
          [timeHeader]: String(at),
          [header]: hmac('sha256', secret, 'base64', 'POST', url, body, String(at)),
        },
      }),
      unsign: withoutHeader(header),
      expects: { eventId: null, eventType: 'contact.creation', orderingKey: '123' },
      sdk: {
        name: '@hubspot/api-client: Signature.isValid, Signature.getSignature',
        mistakes: hashesText,
        sign: ({ body, secret, url, at }) => ({
          headers: {
            [timeHeader]: String(at),
            [header]: signature.Signature.getSignature('POST', 'v3', {
              clientSecret: secret,
              requestBody: body.toString(),
              url,
              timestamp: at,
            } as never),
          },
        }),
        verify: ({ method, url, body, headers }, secret) =>
          signature.Signature.isValid({
            signatureVersion: 'v3',
            signature: headers[header]!,
            clientSecret: secret,
            requestBody: body.toString(),
            method,
            url,
            timestamp: Number(headers[timeHeader]),
          }),
        toleranceSeconds: 300,
      },
    },
  ],
} satisfies ProviderCase;
