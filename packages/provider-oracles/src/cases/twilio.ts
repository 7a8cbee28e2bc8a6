import {
  getExpectedTwilioSignature,
  validateRequest,
  validateRequestWithBody,
} from 'twilio/lib/webhooks/webhooks.js';
import type { ProviderCase } from '../provider-case.ts';
import { hmac, sha256Hex } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-twilio-signature';
const token = 'i-twilio-idempotency-token';
const form = (body: Buffer) => Object.fromEntries(new URLSearchParams(body.toString()));
const withQuery = (url: string, query: string) => `${url}${url.includes('?') ? '&' : '?'}${query}`;

function signedForm(url: string, body: Buffer): string {
  const sorted = Object.entries(form(body)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return url + sorted.flat().join('');
}

export const providerCase = {
  secret: 'twilio0oracle0auth0token0000one1',
  otherSecret: 'twilio0oracle0auth0token0000two2',
  variants: [
    {
      name: 'form',
      covers: 'fields',
      headers: { 'content-type': 'application/x-www-form-urlencoded', [token]: 'b3c5f5a0-1' },
      body: 'MessageSid=SM1&MessageStatus=delivered&To=%2B18005551212&Body=caf%C3%A9+1',
      sign: ({ body, secret, url }) => ({
        headers: { [header]: hmac('sha1', secret, 'base64', signedForm(url, body)) },
      }),
      unsign: withoutHeader(header),
      covered: ['delivered', 'undelivered'],
      uncovered: ['MessageSid=SM1&MessageStatus=delivered', 'MessageStatus=delivered&MessageSid=SM1'],
      expects: { eventId: 'b3c5f5a0-1', eventType: 'delivered', orderingKey: 'SM1' },
      sdk: {
        name: 'twilio: validateRequest, getExpectedTwilioSignature',
        sign: ({ body, secret, url }) => ({
          headers: { [header]: getExpectedTwilioSignature(secret, url, form(body)) },
        }),
        verify: ({ body, headers, url }, secret) =>
          validateRequest(secret, headers[header]!, url, form(body)),
      },
      vectors: [
        {
          source: 'www.twilio.com/docs/usage/security#validating-signatures-from-twilio',
          secret: '12345',
          at: 0,
          covered: ['Digits=1234', 'Digits=1235'],
          request: {
            method: 'POST',
            url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              [header]: 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
            },
            body: Buffer.from(
              'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212',
            ),
          },
        },
      ],
    },
    {
      name: 'JSON',
      covers: 'body',
      headers: { 'content-type': 'application/json', [token]: 'b3c5f5a0-2' },
      body: '{"MessageSid":"SM2","EventType":"onMessageAdded"}',
      sign: ({ body, secret, url }) => {
        const query = `bodySHA256=${sha256Hex(body)}`;
        return { query, headers: { [header]: hmac('sha1', secret, 'base64', withQuery(url, query)) } };
      },
      unsign: withoutHeader(header),
      expects: { eventId: 'b3c5f5a0-2', eventType: 'onMessageAdded', orderingKey: 'SM2' },
      sdk: {
        name: 'twilio: validateRequestWithBody, getExpectedTwilioSignature',
        mistakes: hashesText,
        sign: ({ body, secret, url }) => {
          const query = `bodySHA256=${sha256Hex(body)}`;
          const signature = getExpectedTwilioSignature(secret, withQuery(url, query), {});
          return { query, headers: { [header]: signature } };
        },
        verify: ({ body, headers, url }, secret) =>
          validateRequestWithBody(secret, headers[header]!, url, body.toString()),
      },
    },
  ],
} satisfies ProviderCase;
