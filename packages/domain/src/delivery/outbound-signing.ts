import { createHmac, randomBytes } from 'node:crypto';
import { connectionHeaders } from '../connection-headers.ts';

const secretPrefix = 'whsec_';
const secretBytes = 32;
const relayPrefix = 'hqrelay-';
const standardHeaders: readonly string[] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const prefixedHeaders = standardHeaders.map((name) => relayPrefix + name);

/** A new signing secret of an endpoint: `whsec_` and the base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64');
}

/**
 * The HMAC key of a signing secret: `whsec_` and base64, or the base64 alone. Throws RangeError, without the secret, for any
 * other text.
 */
export function signingKeyOf(secret: string): Uint8Array {
  const digits = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(digits)) {
    throw new RangeError(`a signing secret is ${secretPrefix} and base64, which this one is not`);
  }
  return Buffer.from(digits, 'base64');
}

/**
 * The value of `webhook-signature` by the Standard Webhooks specification: `v1,<base64 HMAC-SHA256>` of
 * `<id>.<timestampSeconds>.<body>` for each key, separated by spaces.
 */
export function signStandardWebhook(input: {
  keys: readonly Uint8Array[];
  id: string;
  timestampSeconds: number;
  body: Uint8Array;
}): string {
  const head = `${input.id}.${input.timestampSeconds}.`;
  return input.keys
    .map((key) => `v1,${createHmac('sha256', key).update(head).update(input.body).digest('base64')}`)
    .join(' ');
}

/**
 * The headers of one attempt, in order: the provider's own, the endpoint's fixed ones, the relay's. Of equal names the
 * later kind stays. When the provider itself sends any of the three `webhook-*` headers, those stay and the relay's
 * three carry the prefix `hqrelay-`. `now` is in ms; without signing keys there is no signature.
 */
export function deliveryHeaders(input: {
  providerHeaders: readonly (readonly [string, string])[];
  fixedHeaders: readonly (readonly [string, string])[];
  signingKeys: readonly Uint8Array[];
  webhookLogId: string;
  attemptNum: number;
  correlationId: string;
  /** The delivery's place among those of its key; undefined where it is unordered. */
  sequence?: number | undefined;
  body: Uint8Array;
  now: number;
  /** Sent unless the provider or a fixed header has one. */
  traceparent?: string | undefined;
}): (readonly [string, string])[] {
  const { providerHeaders, signingKeys: keys, webhookLogId: id, body } = input;
  const timestampSeconds = Math.floor(input.now / 1_000);
  const providerNames = providerHeaders.map(([name]) => name.toLowerCase());
  const isTaken = providerNames.some((name) => standardHeaders.includes(name));
  const prefix = isTaken ? relayPrefix : '';

  const fixed = input.fixedHeaders.filter(([name]) => {
    const lowerCaseName = name.toLowerCase();
    return !isRelayHeader(lowerCaseName, isTaken) && !connectionHeaders.has(lowerCaseName);
  });
  const headers = providerHeaders.filter((_, index) => {
    const lowerCaseName = providerNames[index]!;
    return !isRelayHeader(lowerCaseName, isTaken) && !has(fixed, lowerCaseName);
  });
  headers.push(...fixed);
  const { traceparent } = input;
  const isTraceSent = traceparent !== undefined && !has(headers, 'traceparent');

  headers.push([`${prefix}webhook-id`, id], [`${prefix}webhook-timestamp`, String(timestampSeconds)]);
  if (keys.length > 0) {
    const signature = signStandardWebhook({ keys, id, timestampSeconds, body });
    headers.push([`${prefix}webhook-signature`, signature]);
  }
  headers.push(['x-hqrelay-attempt', String(input.attemptNum)], ['x-correlation-id', input.correlationId]);
  if (input.sequence !== undefined) headers.push(['x-hqrelay-sequence', String(input.sequence)]);
  if (isTraceSent) headers.push(['traceparent', traceparent]);
  return headers;
}

function has(headers: readonly (readonly [string, string])[], lowerCaseName: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === lowerCaseName);
}

/** Names that only the relay may speak under: what a provider or a fixed header says there would pass for ours. */
function isRelayHeader(lowerCaseName: string, areStandardTaken: boolean): boolean {
  if (lowerCaseName === 'x-correlation-id' || lowerCaseName.startsWith('x-hqrelay-')) return true;
  return (
    prefixedHeaders.includes(lowerCaseName) || (!areStandardTaken && standardHeaders.includes(lowerCaseName))
  );
}
