import { Paddle } from '@paddle/paddle-node-sdk';
import type { ProviderCase } from '../provider-case.ts';
import { hmac, unixSeconds } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'paddle-signature';
const paddle = new Paddle('unused');

export const providerCase = {
  secret: 'pdl_ntfset_01h_oracle_one',
  otherSecret: 'pdl_ntfset_01h_oracle_two',
  variants: [
    {
      name: 'billing',
      covers: 'body',
      toleranceSeconds: 4 * 86_400,
      body: '{"event_id":"evt_01","event_type":"transaction.completed","occurred_at":"2026-11-22T07:00:00Z","notification_id":"ntf_01","data":{"id":"txn_01","status":"completed"}}',
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        return {
          headers: { [header]: `ts=${seconds};h1=${hmac('sha256', secret, 'hex', seconds, ':', body)}` },
        };
      },
      unsign: withoutHeader(header),
      several: (request, wrong) => {
        const [time, signature] = request.headers[header]!.split(';');
        const wrongSignature = wrong.headers[header]!.split(';')[1];
        const value = `${time};${signature};${wrongSignature}`;
        return { ...request, headers: { ...request.headers, [header]: value } };
      },
      expects: { eventId: 'evt_01', eventType: 'transaction.completed', orderingKey: 'txn_01' },
      sdk: {
        name: '@paddle/paddle-node-sdk: webhooks.isSignatureValid',
        // The package reads the last h1 alone.
        mistakes: [...hashesText, 'one right signature of several'],
        verify: ({ body, headers }, secret) =>
          paddle.webhooks.isSignatureValid(body.toString(), secret, headers[header]!),
        toleranceSeconds: 5,
      },
    },
  ],
} satisfies ProviderCase;
