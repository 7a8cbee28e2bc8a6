import { createRequire } from 'node:module';
import type { ProviderCase, ProviderRequest } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { hashesText } from '../requests/tamperings.ts';
import { withoutHeader } from '../requests/unsigned.ts';

// Vitest and Node disagree about the default export of this CommonJS file; require() has one meaning.
const require = createRequire(import.meta.url);
const { default: HmacValidator } =
  require('@adyen/api-library/lib/src/utils/hmacValidator.js') as typeof import('@adyen/api-library/lib/src/utils/hmacValidator.js');
const validator = new HmacValidator();
const signatureField = 'PLACE_OF_THE_SIGNATURE';

type Item = Parameters<typeof validator.validateHMAC>[0];
type Body = { notificationItems: { NotificationRequestItem: Item }[] };

function itemOf(body: Buffer): Item {
  const { notificationItems } = JSON.parse(body.toString()) as Body;
  return notificationItems[0]!.NotificationRequestItem;
}

/** The eight signed fields, empty where absent, joined by colons. */
function signedText(body: Buffer): string {
  const item = itemOf(body);
  return [
    item.pspReference,
    item.originalReference,
    item.merchantAccountCode,
    item.merchantReference,
    item.amount.value,
    item.amount.currency,
    item.eventCode,
    item.success,
  ].join(':');
}

function signedInBody(body: Buffer, signature: string): Buffer {
  return Buffer.from(body.toString().replace(signatureField, signature));
}

const published =
  '{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"7914073381342284","merchantAccountCode":"TestMerchant","merchantReference":"TestPayment-1407325143704","amount":{"value":1130,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true","eventDate":"2019-05-06T17:15:34.121+02:00","additionalData":{"hmacSignature":"coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="}}}]}';

export const providerCase = {
  secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  otherSecret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA057',
  variants: [
    {
      name: 'standard',
      covers: 'fields',
      body: `{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"8815658961765250","originalReference":"8815658961760000","merchantAccountCode":"Demo","merchantReference":"order_1","amount":{"value":4200,"currency":"EUR"},"eventCode":"CAPTURE","success":"true","reason":"none","additionalData":{"hmacSignature":"${signatureField}"}}}]}`,
      sign: ({ body, secret }) => ({
        body: signedInBody(body, hmac('sha256', Buffer.from(secret, 'hex'), 'base64', signedText(body))),
      }),
      unsign: (request) => ({
        ...request,
        body: Buffer.from(request.body.toString().replace(/"hmacSignature":"[^"]*"/, '')),
      }),
      covered: ['"value":4200', '"value":4201'],
      uncovered: ['"reason":"none"', '"reason":"other"'],
      expects: { eventId: '8815658961765250:CAPTURE', eventType: 'CAPTURE', orderingKey: 'order_1' },
      sdk: {
        name: '@adyen/api-library: validateHMAC, calculateHmac',
        sign: ({ body, secret }) => ({
          body: signedInBody(body, validator.calculateHmac(itemOf(body), secret)),
        }),
        verify: ({ body }: ProviderRequest, secret) => validator.validateHMAC(itemOf(body), secret),
      },
      vectors: [
        {
          source: 'docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures',
          secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
          at: 0,
          covered: ['"value":1130', '"value":1131'],
          request: {
            method: 'POST',
            url: 'https://relay.example/',
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(published),
          },
        },
      ],
    },
    {
      name: 'platform',
      covers: 'body',
      headers: { protocol: 'HmacSHA256' },
      body: '{"data":{"balancePlatform":"Demo","id":"PA1"},"environment":"test","type":"balancePlatform.payment.created"}',
      sign: ({ body, secret }) => ({
        headers: { hmacsignature: hmac('sha256', Buffer.from(secret, 'hex'), 'base64', body) },
      }),
      unsign: withoutHeader('hmacsignature'),
      expects: { eventId: null, eventType: 'balancePlatform.payment.created', orderingKey: 'PA1' },
      sdk: {
        name: '@adyen/api-library: validateHMACSignature, calculateHmac',
        mistakes: hashesText,
        sign: ({ body, secret }) => ({
          headers: { hmacsignature: validator.calculateHmac(body.toString(), secret) },
        }),
        verify: ({ body, headers }, secret) =>
          validator.validateHMACSignature(secret, headers.hmacsignature!, body.toString()),
      },
    },
  ],
} satisfies ProviderCase;
