import { sign, verify } from '@octokit/webhooks-methods';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { hmac, unixSeconds } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-hub-signature-256';
const common = {
  headers: { 'x-webhook-id': 'order-1-paid' },
  body: '{"event":"order.paid","order":{"id":"1","total":4200}}',
  expects: { eventId: 'order-1-paid', eventType: 'order.paid', orderingKey: null },
};

export const providerCase = {
  secret: 'generic-oracle-secret-number-one',
  otherSecret: 'generic-oracle-secret-number-two',
  variants: [
    {
      name: 'as GitHub signs',
      ...signedBody(header, { prefix: 'sha256=' }),
      ...common,
      sdk: {
        name: '@octokit/webhooks-methods: verify, sign',
        mistakes: hashesText,
        sign: async ({ body, secret }) => ({ headers: { [header]: await sign(secret, body.toString()) } }),
        verify: ({ body, headers }, secret) => verify(secret, body.toString(), headers[header]!),
      },
    },
    {
      name: 'with a timestamp',
      covers: 'body',
      requiresTimestamp: true,
      toleranceSeconds: 300,
      ...common,
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        const signature = `sha256=${hmac('sha256', secret, 'hex', seconds, '.', body)}`;
        return { headers: { 'x-webhook-timestamp': seconds, [header]: signature } };
      },
      unsign: withoutHeader(header),
    },
  ],
} satisfies ProviderCase;
