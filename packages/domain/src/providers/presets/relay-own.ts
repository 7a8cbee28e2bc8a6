import { genericIdentity, genericScheme, genericTimestampScheme } from '../generic.ts';
import type { Preset } from '../preset.ts';
import { day } from './row-parts.ts';

/** Senders that follow no provider's conventions, in the order in which `docs/providers.md` introduces them. */
export const relayOwn: readonly Preset[] = [
  {
    name: 'generic',
    title: 'Generic (signs as GitHub does)',
    schemes: [genericScheme],
    timestampScheme: genericTimestampScheme,
    strength: 'body',
    ...genericIdentity,
    changedBody: 'reject',
    idempotencyTtlSeconds: day,
    secret: { what: 'a text that the sender signs with', from: 'relay' },
    setUp: [
      'Let the sender POST to {webhookUrl}',
      'and sign with {secret}: X-Hub-Signature-256 is sha256= and the hex HMAC-SHA256 of the body.',
      'An event has its id in X-Webhook-Id or Idempotency-Key, and its type in X-Event-Type or in the body.',
    ],
    customerVerifies: 'the signature of the relay, or X-Hub-Signature-256 with the secret of the project',
    special: ['`--scheme FILE` replaces header, algorithm, encoding, prefix and signed text.'],
    evidence: 'sdk',
    unverified: [],
  },
  {
    name: 'static-token',
    title: 'Static token',
    schemes: [
      { kind: 'token', from: 'header:x-webhook-token', when: { has: 'header:x-webhook-token' } },
      { kind: 'token', from: 'header:authorization', prefix: 'Bearer ' },
    ],
    strength: 'bearer',
    ...genericIdentity,
    changedBody: 'reject',
    idempotencyTtlSeconds: day,
    secret: { what: 'the token that the sender sends', from: 'relay' },
    setUp: [
      'Let the sender POST to {webhookUrl}',
      'with the header X-Webhook-Token: {secret}, or Authorization: Bearer {secret}.',
    ],
    customerVerifies: 'the signature of the relay',
    special: ['The token is taken off on receipt; `--forward-credentials` gives it to an endpoint.'],
    evidence: 'sdk',
    unverified: [],
  },
  {
    name: 'basic-auth',
    title: 'HTTP Basic authentication',
    schemes: [{ kind: 'basic' }],
    strength: 'bearer',
    ...genericIdentity,
    changedBody: 'reject',
    idempotencyTtlSeconds: day,
    secret: { what: '`user:password`', from: 'provider' },
    setUp: [
      'Let the sender POST to {webhookUrl}',
      'with the user and the password of the secret, user:password.',
    ],
    customerVerifies: 'the signature of the relay',
    special: ['The credentials are taken off on receipt; `--forward-credentials` gives them to an endpoint.'],
    evidence: 'sdk',
    unverified: [],
  },
  {
    name: 'unverified-accept-anything',
    title: 'No verification at all',
    schemes: [{ kind: 'none' }],
    strength: 'nothing',
    ...genericIdentity,
    changedBody: 'reject',
    idempotencyTtlSeconds: day,
    secret: { what: 'not used', from: 'relay' },
    setUp: ['Let the sender POST to {webhookUrl}.'],
    customerVerifies: 'the event itself, at its source: the relay proves only that it passed the event on',
    special: [
      'Everything that reaches the URL is delivered. Keep the URL secret, or restrict it to addresses.',
    ],
    evidence: 'sdk',
    unverified: [],
  },
];
