import { sign, verify } from '@octokit/webhooks-methods';
import type { ProviderCase } from '../provider-case.ts';
import { signedBody } from '../requests/signed-body.ts';
import { hashesText } from '../requests/tamperings.ts';

const header = 'x-hub-signature-256';

export const providerCase = {
  secret: 'github-oracle-secret-one',
  otherSecret: 'github-oracle-secret-two',
  variants: [
    {
      name: 'webhooks',
      ...signedBody(header, { prefix: 'sha256=' }),
      headers: { 'x-github-event': 'push', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' },
      body: '{"ref":"refs/heads/main","repository":{"id":186853002,"full_name":"octo/demo"},"size":3}',
      expects: {
        eventId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
        eventType: 'push',
        orderingKey: '186853002',
      },
      sdk: {
        name: '@octokit/webhooks-methods: verify, sign',
        mistakes: hashesText,
        sign: async ({ body, secret }) => ({ headers: { [header]: await sign(secret, body.toString()) } }),
        verify: ({ body, headers }, secret) => verify(secret, body.toString(), headers[header]!),
      },
      vectors: [
        {
          source:
            'docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation',
          secret: "It's a Secret to Everybody",
          at: 0,
          covered: ['Hello', 'Jello'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: {
              [header]: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
            },
            body: Buffer.from('Hello, World!'),
          },
        },
      ],
    },
  ],
} satisfies ProviderCase;
