import type { Preset } from '@hqrelay/domain/providers/preset';
import type { Draft } from '@hqrelay/domain/providers/signature/sign-request';

export type SentWebhook = {
  webhookId: string;
  eventType?: string | undefined;
  contentType?: string | undefined;
  /** A sample that the provider could send when not given. */
  body?: Buffer | undefined;
};

/**
 * An unsigned request that carries the id and the type where the provider puts them: in headers, and in the body as far as that is
 * a sample.
 */
export function draftWebhook(preset: Preset, url: string, webhook: SentWebhook, now: number): Draft {
  const body = webhook.body ?? sampleBody(preset, webhook, now);
  const contentType = webhook.contentType ?? (isJson(body) ? 'application/json' : 'application/octet-stream');
  const idHeader = headerOf(preset.webhookId);
  const typeHeader = headerOf(preset.eventType);
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': headerText(contentType),
      'user-agent': 'hqrelay-cli',
      ...(idHeader !== undefined && { [idHeader]: headerText(webhook.webhookId) }),
      ...(typeHeader !== undefined &&
        webhook.eventType !== undefined && { [typeHeader]: headerText(webhook.eventType) }),
    },
    body,
  };
}

/** JSON with the id, the type and the timestamp at the places where the provider has them. */
function sampleBody(
  preset: Preset,
  { webhookId, eventType = 'hqrelay.sample' }: SentWebhook,
  now: number,
): Buffer {
  const sample = { data: { message: 'a sample webhook' } };
  const typePointer = headerOf(preset.eventType) === undefined ? pointerOf(preset.eventType) : undefined;
  setAt(sample, typePointer ?? '/event', eventType);
  const idPointer = pointerOf(preset.webhookId);
  if (idPointer !== undefined && headerOf(preset.webhookId) === undefined)
    setAt(sample, idPointer, webhookId);
  for (const scheme of preset.schemes) {
    const from = 'timestamp' in scheme ? scheme.timestamp?.from : undefined;
    if (from?.startsWith('json:')) setAt(sample, from.slice('json:'.length), now);
  }
  // A provider without ids is known by its bodies.
  if (preset.webhookId.length === 0) setAt(sample, '/sampleId', webhookId);
  return Buffer.from(`${JSON.stringify(sample)}\n`);
}

/** The name of the header that alone gives the value. */
function headerOf(templates: readonly string[]): string | undefined {
  return onlySource(templates, 'header');
}

function pointerOf(templates: readonly string[]): string | undefined {
  return onlySource(templates, 'json');
}

function onlySource(templates: readonly string[], kind: 'header' | 'json'): string | undefined {
  for (const template of templates) {
    const name = new RegExp(`^\\{${kind}:([^{}]+)\\}(?::\\{bodySha256\\})?$`).exec(template)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

function setAt(target: Record<string, unknown>, pointer: string, value: unknown): void {
  const names = pointer.slice(1).split('/');
  let object = target;
  for (const name of names.slice(0, -1)) {
    const next = object[name];
    if (typeof next === 'object' && next !== null) object = next as Record<string, unknown>;
    else object = object[name] = {};
  }
  object[names.at(-1)!] = value;
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Node writes a header as Latin-1, one byte for each character: encodes the text so that those bytes are its UTF-8. */
function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
