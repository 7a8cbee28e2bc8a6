import { Webhook } from 'standardwebhooks';
import type { ProviderCase } from '../provider-case.ts';
import { staticToken } from '../requests/signed-body.ts';
import { hmac, standardKey, unixSeconds } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { listedAfterAnother, withoutHeader } from '../requests/unsigned.ts';

const id = 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

export const providerCase = {
  secret,
  otherSecret: 'whsec_plJ3nmyCDGBKInavdOK15jsl8V3LaLaSwMfKQ9r8GKYo=',
  variants: [
    {
      name: 'secret token',
      ...staticToken('x-gitlab-token'),
      headers: { 'x-gitlab-event': 'Push Hook', 'idempotency-key': id },
      body: '{"object_kind":"push","ref":"refs/heads/main","project":{"id":15,"name":"demo"}}',
      expects: { eventId: id, eventType: 'Push Hook', orderingKey: '15' },
    },
    {
      name: 'signing token',
      covers: 'body',
      toleranceSeconds: 300,
      headers: { 'x-gitlab-event': 'Push Hook', 'idempotency-key': id, 'webhook-id': id },
      body: '{"object_kind":"push","ref":"refs/heads/main","project":{"id":15,"name":"demo"}}',
      sign: ({ body, secret: key, at }) => {
        const seconds = unixSeconds(at);
        const signature = hmac('sha256', standardKey(key), 'base64', id, '.', seconds, '.', body);
        return { headers: { 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` } };
      },
      unsign: withoutHeader('webhook-signature'),
      several: listedAfterAnother('webhook-signature', ' '),
      expects: { eventId: id, eventType: 'Push Hook', orderingKey: '15' },
      sdk: {
        name: 'standardwebhooks: Webhook.verify, Webhook.sign',
        mistakes: hashesText,
        sign: ({ body, secret: key, at }) => ({
          headers: {
            'webhook-timestamp': unixSeconds(at),
            'webhook-signature': new Webhook(key).sign(id, new Date(at), body.toString()),
          },
        }),
        verify: ({ body, headers }, key) => new Webhook(key).verify(body, headers),
        toleranceSeconds: 300,
      },
    },
  ],
} satisfies ProviderCase;
