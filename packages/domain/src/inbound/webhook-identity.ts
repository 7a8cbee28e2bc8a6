import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { HeaderLookup } from './signature.ts';

const webhookIdBytesMax = 255;
const eventTypeLengthMax = 255;
const printableAscii = /^[\x20-\x7e]*$/;
const controlCharacter = /\p{Cc}/u;

/**
 * The id of a webhook as its provider gave it: `X-Webhook-Id`, else `Idempotency-Key`, else the body's SHA-256 in hex. An id that
 * is over 255 bytes, has control characters or is not UTF-8 becomes `sha256:<hex>` of its bytes. Empty is absent.
 */
export function identifyWebhook(input: { headers: HeaderLookup; bodySha256Hex: string }): {
  webhookId: string;
} {
  const given = input.headers('x-webhook-id') || input.headers('idempotency-key');
  return { webhookId: given ? storableId(given) : input.bodySha256Hex };
}

/**
 * The event type of a webhook: `X-Event-Type`, else the body's `event`, `event_type` or `type`, the first that is a
 * non-empty string. Null also for a type over 255 characters or with control characters.
 */
export function eventTypeOf(input: { headers: HeaderLookup; json: unknown }): string | null {
  const header = input.headers('x-event-type');
  const eventType = header ? decodeHeader(header) : eventTypeOfBody(input.json);
  return eventType !== null && isStorableEventType(eventType) ? eventType : null;
}

function eventTypeOfBody(json: unknown): string | null {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  for (const name of ['event', 'event_type', 'type']) {
    const value: unknown = Reflect.get(json, name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function isStorableEventType(text: string): boolean {
  return text.length <= eventTypeLengthMax && !controlCharacter.test(text) && text.isWellFormed();
}

function storableId(value: string): string {
  if (value.length <= webhookIdBytesMax && printableAscii.test(value)) return value;
  const text = decodeHeader(value);
  const bytes = headerBytes(value);
  if (text === null || bytes.length > webhookIdBytesMax || controlCharacter.test(text)) {
    return `sha256:${hash('sha256', bytes)}`;
  }
  return text;
}

/** The header's text if its bytes are UTF-8; else null. */
function decodeHeader(value: string): string | null {
  if (printableAscii.test(value)) return value;
  const bytes = headerBytes(value);
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** The bytes that were on the wire: Node reads header values as Latin-1, one character for each byte. */
function headerBytes(value: string): Buffer {
  return Buffer.from(value, /^[\0-\xff]*$/.test(value) ? 'latin1' : 'utf8');
}
