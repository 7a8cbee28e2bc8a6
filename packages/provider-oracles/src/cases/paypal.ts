import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ProviderCase } from '../provider-case.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });
const { publicKey, privateKey } = newKeys();
const pem = (key: typeof publicKey) => key.export({ type: 'spki', format: 'pem' }).toString();
const header = 'paypal-transmission-sig';
const webhookId = '4JH86294D6297924G';
const id = 'dfb3be50-fd74-11e4-8bf3-77339302725b';

// The public key of the certificate that PayPal's sandbox signed with in 2015, and a request that it signed.
const publishedKey =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyF4MCY9RPrzzizQO3t5xbEaUKuxtQhXKAjXkYBSBkX3eIrbdowUT3x139Xnlzg0OlcEzD+q1WKyNxwULuUmUWSjt4ACz4gVk3M+RYVaL2A8/3fw7WrAOS+5dcZkTPhhjxHvw9xEz3sspuhkwLiM0dY7tQbkkJVZyK3CCwx6xWaNEcqhR9XjS96GH4M/mQr/lh+ua4UutFaMIiwG9pbAEXJCdj/MCiKbN2FMQKlRuUifR+PbngQyNNcBMxP/ufSfLPRk4ZmzE6j+seDJ3gHBjdUz4phnfcGZW8MKwmA7QqKhQ3MTFYLw/N7j6yIpxcEyDl8Ot0Er/P/gDbmsAXDSQ6wIDAQAB';
const publishedSignature =
  'thy4/U002quzxFavHPwbfJGcc46E8rc5jzgyeafWm5mICTBdY/8rl7WJpn8JA0GKA+oDTPsSruqusw+XXg5RLAP7ip53Euh9Xu3UbUhQFX7UgwzE2FeYoY6lyRMiiiQLzy9BvHfIzNIVhPad4KnC339dr6y2l+mN8ALgI4GCdIh3/SoJO5wE64Bh/ueWtt8EVuvsvXfda2Le5a2TrOI9vLEzsm9GS79hAR/5oLexNz8UiZr045Mr5ObroH4w4oNfmkTaDk9Rj0G19uvISs5QzgmBpauKr7Nw++JI0pr/v5mFctQkoWJSGfBGzPRXawrvIIVHQ9Wer48GR2g9ZiApWg==';
const publishedBody =
  '{"id":"WH-0G2756385H040842W-5Y612302CV158622M","create_time":"2015-05-18T15:45:13Z","resource_type":"sale","event_type":"PAYMENT.SALE.COMPLETED","summary":"Payment completed for $ 20.0 USD","resource":{"id":"4EU7004268015634R","create_time":"2015-05-18T15:44:02Z","update_time":"2015-05-18T15:44:21Z","amount":{"total":"20.00","currency":"USD"},"payment_mode":"INSTANT_TRANSFER","state":"completed","protection_eligibility":"ELIGIBLE","protection_eligibility_type":"ITEM_NOT_RECEIVED_ELIGIBLE,UNAUTHORIZED_PAYMENT_ELIGIBLE","parent_payment":"PAY-86C81811X5228590KKVNARQQ","transaction_fee":{"value":"0.88","currency":"USD"},"links":[{"href":"https://api.sandbox.paypal.com/v1/payments/sale/4EU7004268015634R","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v1/payments/sale/4EU7004268015634R/refund","rel":"refund","method":"POST"},{"href":"https://api.sandbox.paypal.com/v1/payments/payment/PAY-86C81811X5228590KKVNARQQ","rel":"parent_payment","method":"GET"}]},"links":[{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-0G2756385H040842W-5Y612302CV158622M","rel":"self","method":"GET"},{"href":"https://api.sandbox.paypal.com/v1/notifications/webhooks-events/WH-0G2756385H040842W-5Y612302CV158622M/resend","rel":"resend","method":"POST"}]}';

export const providerCase = {
  secret: pem(publicKey),
  otherSecret: pem(newKeys().publicKey),
  settings: { 'webhook-id': webhookId },
  variants: [
    {
      name: 'webhooks',
      covers: 'fields',
      covered: ['5O190127TN364715T', '5O190127TN364715U'],
      headers: { 'paypal-transmission-id': id, 'paypal-auth-algo': 'SHA256withRSA' },
      body: '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"id":"5O190127TN364715T","supplementary_data":{"related_ids":{"order_id":"ORDER1"}}}}',
      sign: ({ body, at }) => {
        const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
        const message = [id, time, webhookId, crc32(body)].join('|');
        const signature = signBytes('sha256', Buffer.from(message), privateKey).toString('base64');
        return { headers: { 'paypal-transmission-time': time, [header]: signature } };
      },
      unsign: withoutHeader(header),
      expects: { eventId: 'WH-1', eventType: 'PAYMENT.CAPTURE.COMPLETED', orderingKey: 'ORDER1' },
      vectors: [
        {
          source:
            'github.com/paypal: the request of the Python, Ruby and Node SDKs, the certificate of the Node SDK',
          secret: publishedKey,
          at: Date.parse('2015-05-18T15:45:13Z'),
          covered: ['PAYMENT.SALE.COMPLETED', 'PAYMENT.SALE.REFUNDED'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: {
              'content-type': 'application/json',
              'paypal-transmission-id': id,
              'paypal-transmission-time': '2015-05-18T15:45:13Z',
              'paypal-auth-algo': 'SHA256withRSA',
              [header]: publishedSignature,
            },
            body: Buffer.from(publishedBody),
          },
        },
      ],
    },
  ],
} satisfies ProviderCase;
