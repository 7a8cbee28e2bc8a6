import type { Preset } from '../preset.ts';
import { bodyHmac, day } from './row-parts.ts';

export const paymentsGToO: readonly Preset[] = [
  {
    name: 'gocardless',
    title: 'GoCardless',
    schemes: [bodyHmac('webhook-signature', 'hex')],
    strength: 'body',
    webhookId: ['{json:/meta/webhook_id}'],
    eventType: ['{json:/events/0/resource_type}.{json:/events/0/action}'],
    orderingKey: [],
    changedBody: 'reject',
    idempotencyTtlSeconds: 7 * day,
    secret: { what: 'the webhook endpoint secret', from: 'provider' },
    setUp: ['Developers, Create, Webhook endpoint: URL {webhookUrl}; give its secret to this project.'],
    customerVerifies: 'Webhook-Signature with `webhooks.parse` of gocardless-nodejs',
    special: ['A webhook is a batch of up to 250 events; its event type is that of the first.'],
    evidence: 'sdk',
    unverified: [],
    sdk: 'gocardless-nodejs',
  },
  {
    name: 'iyzico',
    title: 'iyzico',
    schemes: [
      bodyHmac('x-iyz-signature-v3', 'hex', {
        when: { has: 'json:/token' },
        message:
          '{secret}{json:/iyziEventType}{json:/iyziPaymentId}{json:/token}{json:/paymentConversationId?}{json:/status}',
      }),
      bodyHmac('x-iyz-signature-v3', 'hex', {
        when: { has: 'json:/subscriptionReferenceCode' },
        message:
          '{setting:merchant-id}{secret}{json:/iyziEventType}{json:/subscriptionReferenceCode}{json:/orderReferenceCode}{json:/customerReferenceCode}',
      }),
      bodyHmac('x-iyz-signature-v3', 'hex', {
        message: '{secret}{json:/iyziEventType}{json:/paymentId}{json:/paymentConversationId?}{json:/status}',
      }),
    ],
    strength: 'fields',
    webhookId: ['{json:/iyziReferenceCode}'],
    eventType: ['{json:/iyziEventType}'],
    orderingKey: ['{json:/subscriptionReferenceCode}', '{json:/paymentConversationId}'],
    changedBody: 'duplicate',
    idempotencyTtlSeconds: day,
    secret: { what: 'the secret key of the API keys', from: 'provider' },
    settings: [
      { name: 'merchant-id', what: 'the merchant id, for subscription webhooks', isRequired: false },
    ],
    setUp: [
      'Merchant panel, Settings, Merchant notifications: Webhook URL {webhookUrl}.',
      'Ask iyzico to send X-IYZ-SIGNATURE-V3: without it every webhook is refused.',
    ],
    customerVerifies:
      'X-IYZ-SIGNATURE-V3 over the fields that it covers, and the payment itself through the API',
    special: ['A few fields are signed, joined without a separator: the rest of the body is not covered.'],
    evidence: 'vendor',
    unverified: ['the subscription format'],
  },
  {
    name: 'mollie',
    title: 'Mollie (signed webhooks)',
    schemes: [
      bodyHmac('x-mollie-signature', 'hex', {
        signature: { from: 'header:x-mollie-signature', list: ',', prefix: 'sha256=', prefixOptional: true },
      }),
    ],
    strength: 'body',
    webhookId: ['{json:/id}'],
    eventType: ['{json:/type}'],
    orderingKey: ['{json:/entityId}'],
    changedBody: 'duplicate',
    idempotencyTtlSeconds: 2 * day,
    secret: { what: 'the signing secret of the webhook', from: 'provider' },
    setUp: ['Dashboard, Developers, Webhooks: URL {webhookUrl}; give its secret to this project.'],
    customerVerifies: 'X-Mollie-Signature with `SignatureValidator` of mollie-api-typescript',
    special: ['Classic webhooks (a form with an id) are not signed: see mollie-classic.'],
    evidence: 'sdk',
    unverified: [],
    sdk: 'mollie-api-typescript',
  },
  {
    name: 'mollie-classic',
    title: 'Mollie (classic webhooks)',
    schemes: [{ kind: 'token', from: 'query:token' }],
    strength: 'bearer',
    webhookId: [],
    eventType: [],
    orderingKey: ['{form:id}'],
    accepted: { status: 200 },
    changedBody: 'reject',
    // Every change of a payment sends the same body: a longer window would swallow the next change.
    idempotencyTtlSeconds: 60,
    secret: { what: 'a token of your own in the webhook URL', from: 'relay' },
    setUp: ['webhookUrl of the payment: {webhookUrl}?token={secret}'],
    customerVerifies: 'the payment itself, through the API, by the id of the body',
    special: [
      'Mollie signs nothing here, so the URL carries a token. Proxies in front may log it.',
      'Each change of a payment sends the same body; only repetitions within a minute count as duplicates.',
    ],
    evidence: 'docs',
    unverified: ['10 attempts over 26 h', '15 s timeout'],
  },
  {
    name: 'omise',
    title: 'Omise (Opn Payments)',
    schemes: [
      bodyHmac('omise-signature', 'hex', {
        key: 'base64',
        signature: { from: 'header:omise-signature', list: ',' },
        // Whether a late retry has a new timestamp is not known: as long as an id is remembered.
        timestamp: {
          from: 'header:omise-signature-timestamp',
          unit: 'seconds',
          toleranceSeconds: 7 * day,
        },
        message: '{ts}.{body}',
      }),
    ],
    strength: 'body',
    webhookId: ['{json:/id}'],
    eventType: ['{json:/key}'],
    orderingKey: ['{json:/data/id}'],
    changedBody: 'duplicate',
    idempotencyTtlSeconds: 7 * day,
    secret: { what: 'the webhook secret, in base64', from: 'provider' },
    setUp: ['Dashboard, Webhooks: Endpoint {webhookUrl}; give the webhook secret to this project.'],
    customerVerifies: 'Omise-Signature: a hex HMAC-SHA256 of `timestamp.body` with the decoded secret',
    special: ['For 24 hours after the secret is rolled, Omise sends a signature of each secret.'],
    evidence: 'third-party',
    unverified: ['success code', 'timeout', 'retry schedule', 'tolerance'],
  },
];
