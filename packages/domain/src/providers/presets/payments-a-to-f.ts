import type { Preset } from '../preset.ts';
import { bodyHmac, day } from './row-parts.ts';

const adyenItem = 'json:/NotificationRequestItem';
const adyenFirst = 'json:/notificationItems/0/NotificationRequestItem';

export const paymentsAToF: readonly Preset[] = [
  {
    name: 'adyen',
    title: 'Adyen',
    schemes: [
      {
        kind: 'hmac',
        alg: 'sha256',
        key: 'hex',
        encoding: 'base64',
        when: { has: `${adyenFirst}/pspReference` },
        each: '/notificationItems',
        signature: { from: `${adyenItem}/additionalData/hmacSignature` },
        message: [
          'pspReference',
          'originalReference',
          'merchantAccountCode',
          'merchantReference',
          'amount/value',
          'amount/currency',
          'eventCode',
          'success',
        ]
          .map((field) => `{${adyenItem}/${field}?}`)
          .join(':'),
      },
      bodyHmac('hmacsignature', 'base64', { key: 'hex' }),
    ],
    strength: 'fields',
    webhookId: [`{${adyenFirst}/pspReference}:{${adyenFirst}/eventCode}`],
    eventType: [`{${adyenFirst}/eventCode}`, '{json:/type}'],
    orderingKey: [`{${adyenFirst}/merchantReference}`, `{${adyenFirst}/pspReference}`, '{json:/data/id}'],
    accepted: { status: 200, text: '[accepted]' },
    changedBody: 'duplicate',
    idempotencyTtlSeconds: 30 * day,
    secret: { what: 'the HMAC key of the webhook, in hex', from: 'provider' },
    setUp: [
      'Customer Area, Developers, Webhooks: add a standard webhook with the URL {webhookUrl} and format JSON.',
      'Generate its HMAC key and give it to this project.',
    ],
    customerVerifies: 'each notification with `hmacValidator` of @adyen/api-library',
    special: [
      'Standard webhooks sign eight fields of each item, not the body. Platform webhooks (header HmacSignature) sign the whole body.',
      'Adyen retries in order: the earliest webhook that fails holds up those behind it.',
    ],
    evidence: 'sdk',
    unverified: ['10 s timeout', 'the body [accepted] is for older set-ups only'],
    sdk: '@adyen/api-library',
  },
  {
    name: 'braintree',
    title: 'Braintree',
    schemes: [
      {
        kind: 'hmac',
        alg: 'sha1',
        key: 'sha1',
        encoding: 'hex',
        signature: {
          from: 'form:bt_signature',
          list: '&',
          pair: { separator: '|', tag: '{setting:public-key}' },
        },
        message: ['{form:bt_payload}', '{form:bt_payload}\n'],
      },
    ],
    strength: 'fields',
    webhookId: [],
    eventType: [],
    orderingKey: [],
    changedBody: 'reject',
    idempotencyTtlSeconds: 2 * day,
    handshakes: [
      {
        method: 'GET',
        when: [{ source: 'query:bt_challenge', matches: /^[0-9a-f]{20,32}$/ }],
        isSigned: false,
        reply: {
          status: 200,
          hmac: { of: 'query:bt_challenge', alg: 'sha1', key: 'sha1' },
          text: '{setting:public-key}|{hmac}',
        },
      },
    ],
    secret: { what: 'the private key of the API keys', from: 'provider' },
    settings: [{ name: 'public-key', what: 'the public key of the same API keys', isRequired: true }],
    setUp: ['Control Panel, API, Webhooks, Create new webhook: Destination URL {webhookUrl}.'],
    customerVerifies: '`bt_signature` and `bt_payload` with `webhookNotification.parse` of the SDK',
    special: [
      'The kind and the subject stand in XML inside bt_payload, which the relay does not read: webhooks have no event type.',
    ],
    evidence: 'sdk',
    unverified: [],
    sdk: 'braintree',
  },
  {
    name: 'checkout-com',
    title: 'Checkout.com',
    schemes: [bodyHmac('cko-signature', 'hex')],
    strength: 'body',
    webhookId: ['{json:/id}'],
    eventType: ['{json:/type}'],
    orderingKey: ['{json:/data/id}'],
    changedBody: 'reject',
    idempotencyTtlSeconds: 7 * day,
    acceptsUnparsable: true,
    secret: { what: 'the signature key of the webhook', from: 'provider' },
    setUp: [
      'Dashboard, Developers, Webhooks, New webhook: URL {webhookUrl}.',
      'Give the signature key of the webhook to this project.',
    ],
    customerVerifies:
      'Cko-Signature, a hex HMAC-SHA256 of the bytes that came: numbers change when they are serialised again',
    special: ['Some bodies are not valid JSON; they are accepted and have no event type.'],
    evidence: 'docs',
    unverified: ['retry schedule'],
  },
  {
    name: 'coinbase-commerce',
    title: 'Coinbase Commerce',
    schemes: [bodyHmac('x-cc-webhook-signature', 'hex')],
    strength: 'body',
    webhookId: ['{json:/event/id}'],
    eventType: ['{json:/event/type}'],
    orderingKey: ['{json:/event/data/code}'],
    accepted: { status: 200 },
    changedBody: 'duplicate',
    idempotencyTtlSeconds: 4 * day,
    secret: { what: 'the webhook shared secret', from: 'provider' },
    setUp: ['Settings, Notifications, Webhook subscriptions: add {webhookUrl}.'],
    customerVerifies: 'X-CC-Webhook-Signature with `Webhook.verifySigHeader` of the SDK',
    special: [
      'The API was shut down on 2026-03-31: for history only. Its successor signs in a way that is not known here.',
    ],
    evidence: 'sdk',
    unverified: [],
    sdk: 'coinbase-commerce-node',
  },
  {
    name: 'flutterwave',
    title: 'Flutterwave',
    schemes: [
      bodyHmac('flutterwave-signature', 'base64', { when: { has: 'header:flutterwave-signature' } }),
      { kind: 'token', from: 'header:verif-hash' },
    ],
    strength: 'bearer',
    webhookId: ['{json:/webhook_id}'],
    eventType: ['{json:/type}', '{json:/event}'],
    orderingKey: ['{json:/data/reference}', '{json:/data/tx_ref}'],
    accepted: { status: 200 },
    changedBody: 'duplicate',
    idempotencyTtlSeconds: day,
    secret: { what: 'the secret hash', from: 'relay' },
    setUp: ['Dashboard, Settings, Webhooks: URL {webhookUrl}, Secret hash {secret}.'],
    customerVerifies:
      'flutterwave-signature (v4); verif-hash (v3) proves only that the sender knows the secret hash',
    special: [
      'v3 sends the secret hash itself in verif-hash: then it is a bearer token, and the body is not covered.',
    ],
    evidence: 'third-party',
    unverified: ['the id field webhook_id', 'retry schedule'],
  },
];
