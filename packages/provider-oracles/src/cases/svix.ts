import { Webhook } from 'svix';
import type { ProviderCase } from '../provider-case.ts';
import { hmac, standardKey, unixSeconds } from '../signatures.ts';
import { hashesText } from '../tamperings.ts';
import { listedAfterAnother, withoutHeader } from '../unsigned.ts';

const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';

export const providerCase = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  otherSecret: 'whsec_plJ3nmyCDGBKInavdOK15jsl8V3LaLaS',
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      toleranceSeconds: 300,
      headers: { 'svix-id': id },
      body: '{"type":"invoice.paid","timestamp":"2026-11-22T07:00:00Z","data":{"id":"in_1","total":4200}}',
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        const signature = hmac('sha256', standardKey(secret), 'base64', id, '.', seconds, '.', body);
        return { headers: { 'svix-timestamp': seconds, 'svix-signature': `v1,${signature}` } };
      },
      unsign: withoutHeader('svix-signature'),
      several: listedAfterAnother('svix-signature', ' '),
      expects: { eventId: id, eventType: 'invoice.paid', orderingKey: 'in_1' },
      sdk: {
        name: 'svix: Webhook.verify, Webhook.sign',
        mistakes: hashesText,
        sign: ({ body, secret, at }) => ({
          headers: {
            'svix-timestamp': unixSeconds(at),
            'svix-signature': new Webhook(secret).sign(id, new Date(at), body.toString()),
          },
        }),
        verify: ({ body, headers }, secret) => new Webhook(secret).verify(body, headers),
        toleranceSeconds: 300,
      },
      vectors: [
        {
          source: 'docs.svix.com/receiving/verifying-payloads/how-manual',
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          at: 1_614_265_330_000,
          covered: ['2432232314', '2432232315'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: {
              'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
              'svix-timestamp': '1614265330',
              'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
            },
            body: Buffer.from('{"test": 2432232314}'),
          },
        },
      ],
    },
  ],
} satisfies ProviderCase;
