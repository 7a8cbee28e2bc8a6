import type { ProviderCase } from './provider-case.ts';
import { hmac, standardKey, unixSeconds } from './requests/signatures.ts';
import { hashesText } from './requests/tamperings.ts';
import { listedAfterAnother, withoutHeader } from './requests/unsigned.ts';

const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';

/** The signing class of a package of Standard Webhooks. */
type WebhookClass = new (secret: string) => {
  sign: (id: string, at: Date, body: string) => string;
  verify: (body: Buffer, headers: Record<string, string>) => unknown;
};

type Dialect = {
  /** What the names of the three headers begin with. */
  prefix: 'webhook' | 'svix';
  sdkName: string;
  Webhook: WebhookClass;
  /** Where the signature of the vector is published. */
  vectorSource: string;
};

/** The case of Standard Webhooks in the header names of one provider. */
export const standardWebhooksCase = ({ prefix, sdkName, Webhook, vectorSource }: Dialect): ProviderCase => ({
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  otherSecret: 'whsec_plJ3nmyCDGBKInavdOK15jsl8V3LaLaS',
  variants: [
    {
      name: 'webhooks',
      covers: 'body',
      toleranceSeconds: 300,
      headers: { [`${prefix}-id`]: id },
      body: '{"type":"invoice.paid","timestamp":"2026-11-22T07:00:00Z","data":{"id":"in_1","total":4200}}',
      sign: ({ body, secret, at }) => {
        const seconds = unixSeconds(at);
        const signature = hmac('sha256', standardKey(secret), 'base64', id, '.', seconds, '.', body);
        return { headers: { [`${prefix}-timestamp`]: seconds, [`${prefix}-signature`]: `v1,${signature}` } };
      },
      unsign: withoutHeader(`${prefix}-signature`),
      several: listedAfterAnother(`${prefix}-signature`, ' '),
      expects: { eventId: id, eventType: 'invoice.paid', orderingKey: 'in_1' },
      sdk: {
        name: `${sdkName}: Webhook.verify, Webhook.sign`,
        mistakes: hashesText,
        sign: ({ body, secret, at }) => ({
          headers: {
            [`${prefix}-timestamp`]: unixSeconds(at),
            [`${prefix}-signature`]: new Webhook(secret).sign(id, new Date(at), body.toString()),
          },
        }),
        verify: ({ body, headers }, secret) => new Webhook(secret).verify(body, headers),
        toleranceSeconds: 300,
      },
      vectors: [
        {
          source: vectorSource,
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          at: 1_614_265_330_000,
          covered: ['2432232314', '2432232315'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: {
              [`${prefix}-id`]: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
              [`${prefix}-timestamp`]: '1614265330',
              [`${prefix}-signature`]: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
            },
            body: Buffer.from('{"test": 2432232314}'),
          },
        },
      ],
    },
  ],
});
