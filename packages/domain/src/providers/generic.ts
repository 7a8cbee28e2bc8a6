import type { Preset } from './preset.ts';
import type { HmacScheme } from './scheme.ts';

/** `X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the raw body>`, as GitHub signs. */
export const genericScheme: HmacScheme = {
  kind: 'hmac',
  alg: 'sha256',
  key: 'utf8',
  encoding: 'hex',
  signature: { from: 'header:x-hub-signature-256', prefix: 'sha256=' },
  message: '{body}',
};

/** The generic scheme over `<timestamp>.<body>`, for projects that require a timestamp. */
export const genericTimestampScheme: HmacScheme = {
  ...genericScheme,
  message: '{ts}.{body}',
  timestamp: { from: 'header:x-webhook-timestamp', unit: 'seconds', toleranceSeconds: 300 },
};

/** Where a sender that follows no provider's conventions puts its ids and types. */
export const genericIdentity: Pick<Preset, 'webhookId' | 'eventType' | 'orderingKey'> = {
  webhookId: ['{header:x-webhook-id}', '{header:idempotency-key}'],
  eventType: ['{header:x-event-type}', '{json:/event}', '{json:/event_type}', '{json:/type}'],
  orderingKey: [],
};
