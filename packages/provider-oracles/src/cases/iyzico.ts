import type { ProviderCase, SignInput, Vector } from '../provider-case.ts';
import { hmac } from '../requests/signatures.ts';
import { withoutHeader } from '../requests/unsigned.ts';

const header = 'x-iyz-signature-v3';
const merchantId = '3394045';

/** The values of the named fields, as they are written in the body, after `before`. */
function signedFields(names: readonly string[], before: (secret: string) => string) {
  return ({ body, secret }: SignInput) => {
    const text = body.toString();
    const values = names.map((name) => new RegExp(`"${name}":"?([^",}]*)`).exec(text)?.[1] ?? '');
    return { headers: { [header]: hmac('sha256', secret, 'hex', before(secret), ...values) } };
  };
}

/** A request whose signature stands in iyzico's sample. */
const published = (signature: string, body: string): Vector => ({
  source: 'github.com/iyzico/iyzipay-php, samples/webhook_Signature_Validation.php',
  secret: 'sandbox-UuLnD7wZa0a3DmytfIrwHQqAMfqCNJrs',
  at: 0,
  covered: ['SUCCESS', 'FAILURE'],
  request: {
    method: 'POST',
    url: 'https://relay.example/',
    headers: { 'content-type': 'application/json', [header]: signature },
    body: Buffer.from(body),
  },
});

const fields = { covers: 'fields' as const, unsign: withoutHeader(header) };

export const providerCase = {
  secret: 'sandbox-oracle-secret-key-one',
  otherSecret: 'sandbox-oracle-secret-key-two',
  settings: { 'merchant-id': merchantId },
  variants: [
    {
      name: 'direct',
      ...fields,
      body: '{"paymentConversationId":"conversation_1","merchantId":3394045,"paymentId":"22416032","status":"SUCCESS","iyziReferenceCode":"a9afcbde-1","iyziEventType":"API_AUTH","iyziEventTime":1763794800000,"iyziPaymentId":22416032}',
      sign: signedFields(
        ['iyziEventType', 'paymentId', 'paymentConversationId', 'status'],
        (secret) => secret,
      ),
      covered: ['"status":"SUCCESS"', '"status":"FAILURE"'],
      uncovered: ['1763794800000', '1763794800001'],
      expects: { eventId: 'a9afcbde-1', eventType: 'API_AUTH', orderingKey: 'conversation_1' },
      vectors: [
        published(
          '92c7a72b7741bc83eb696066605c894778c87297b2c88d6037670666230e18ae',
          '{"paymentConversationId":"conversationId","merchantId":3382172,"paymentId":22484059,"status":"SUCCESS","iyziReferenceCode":"a9af8e6b-4401-4928-b6b8-40419aaa3d0f","iyziEventType":"API_AUTH","iyziEventTime":1721825828467,"iyziPaymentId":22484059}',
        ),
      ],
    },
    {
      name: 'hosted payment page',
      ...fields,
      body: '{"paymentConversationId":"conversation_2","merchantId":3394045,"token":"token_2","status":"SUCCESS","iyziReferenceCode":"a9afcbde-2","iyziEventType":"CHECKOUT_FORM_AUTH","iyziEventTime":1763794800000,"iyziPaymentId":9007199254740993}',
      sign: signedFields(
        ['iyziEventType', 'iyziPaymentId', 'token', 'paymentConversationId', 'status'],
        (secret) => secret,
      ),
      covered: ['9007199254740993', '9007199254740992'],
      uncovered: ['1763794800000', '1763794800001'],
      expects: { eventId: 'a9afcbde-2', eventType: 'CHECKOUT_FORM_AUTH', orderingKey: 'conversation_2' },
      vectors: [
        published(
          '4031c575763486a2d2bf3f7ace0baebfcd6bed65393ab4df3fe80c00d5fd6878',
          '{"paymentConversationId":"conversationId","merchantId":3382172,"token":"e828c62d-fd12-4b1a-ad5a-380f15fe6596","status":"SUCCESS","iyziReferenceCode":"77e1635c-6b39-475a-8b7b-ca15ad0cd4ac","iyziEventType":"CHECKOUT_FORM_AUTH","iyziEventTime":1721825036103,"iyziPaymentId":22483975}',
        ),
      ],
    },
    {
      name: 'subscription',
      ...fields,
      body: '{"orderReferenceCode":"order_3","customerReferenceCode":"customer_3","subscriptionReferenceCode":"subscription_3","iyziReferenceCode":"a9afcbde-3","iyziEventType":"subscription.order.success","iyziEventTime":1763794800000}',
      sign: signedFields(
        ['iyziEventType', 'subscriptionReferenceCode', 'orderReferenceCode', 'customerReferenceCode'],
        (secret) => merchantId + secret,
      ),
      covered: ['order_3', 'order_4'],
      uncovered: ['1763794800000', '1763794800001'],
      expects: {
        eventId: 'a9afcbde-3',
        eventType: 'subscription.order.success',
        orderingKey: 'subscription_3',
      },
    },
  ],
} satisfies ProviderCase;
