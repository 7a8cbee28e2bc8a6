import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { Preset } from './preset.ts';
import type { Reading } from './request/read-source.ts';
import type { RequestView } from './request/request-view.ts';
import { renderText, type TemplateValues } from './request/template.ts';

export type Identity = {
  /** The id as the provider gave it, else the body's SHA-256 in hex. */
  webhookId: string;
  eventType: string | null;
  /** What events of the same thing have in common; null when the provider has no such thing. */
  orderingKey: string | null;
};

const idBytesMax = 255;
const eventTypeLengthMax = 255;
const printableAscii = /^[\x20-\x7e]*$/;
const controlCharacter = /\p{Cc}/u;

/**
 * The id, the event type and the ordering key of a webhook. An id that is over 255 bytes, has control characters or is not UTF-8
 * becomes `sha256:<hex>` of its bytes; an event type over 255 characters or with control characters is null.
 */
export function identify(
  preset: Pick<Preset, 'webhookId' | 'eventType' | 'orderingKey'>,
  settings: Reading['settings'],
  view: RequestView,
): Identity {
  const values: TemplateValues = { view, settings };
  const id = firstOf(preset.webhookId, values);
  const type = firstOf(preset.eventType, values, { textOnly: true });
  const orderingKey = firstOf(preset.orderingKey, values);
  return {
    webhookId: id ? storableId(id) : view.bodySha256Hex(),
    eventType: type === undefined ? null : storableEventType(type),
    orderingKey: orderingKey === undefined ? null : storableId(orderingKey),
  };
}

function firstOf(
  templates: readonly string[],
  values: TemplateValues,
  options?: { textOnly: boolean },
): string | undefined {
  for (const template of templates) {
    const text = renderText(template, values, options);
    if (text) return text;
  }
  return undefined;
}

function storableEventType(wireText: string): string | null {
  const text = decodeWire(wireText);
  const isStorable =
    text !== null && text.length <= eventTypeLengthMax && !controlCharacter.test(text) && text.isWellFormed();
  return isStorable ? text : null;
}

/** `wireText`: one character for each byte. */
export function storableId(wireText: string): string {
  if (wireText.length <= idBytesMax && printableAscii.test(wireText)) return wireText;
  const bytes = wireBytes(wireText);
  const text = decodeWire(wireText);
  if (text === null || bytes.length > idBytesMax || controlCharacter.test(text)) {
    return `sha256:${hash('sha256', bytes)}`;
  }
  return text;
}

/** The text if its bytes are UTF-8; else null. */
function decodeWire(wireText: string): string | null {
  if (printableAscii.test(wireText)) return wireText;
  const bytes = wireBytes(wireText);
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** Node reads header values as Latin-1, one character for each byte. */
function wireBytes(wireText: string): Buffer {
  return Buffer.from(wireText, /^[\0-\xff]*$/.test(wireText) ? 'latin1' : 'utf8');
}
