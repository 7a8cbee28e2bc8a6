import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { decodeHmacKey } from './signature/decode-key.ts';
import type { Handshake } from './preset.ts';
import { readSource, type Reading } from './request/read-source.ts';
import type { RequestView } from './request/request-view.ts';
import { renderText, type TemplateValues } from './request/template.ts';
import { holds, type ProjectKeys } from './signature/verify-request.ts';

export type HandshakeReply = {
  status: 200 | 204;
  contentType: 'text/plain' | 'application/json' | null;
  body: Buffer;
};

const replyBytesMax = 4_096;

/**
 * The answer to a request that asks whether the webhook URL is the project's; null for any other request. `isSigned` tells
 * whether the request has passed the project's schemes.
 */
export function answerHandshake(
  handshakes: readonly Handshake[] | undefined,
  keys: ProjectKeys,
  view: RequestView,
  { isSigned }: { isSigned: boolean },
): HandshakeReply | null {
  const reading: Reading = { view, settings: keys.settings ?? {} };
  for (const handshake of handshakes ?? []) {
    if (handshake.isSigned !== isSigned || !asks(handshake, reading)) continue;
    const reply = replyOf(handshake, keys, reading);
    if (reply && reply.body.length <= replyBytesMax) return reply;
  }
  return null;
}

function asks({ method, when = [], mustEqual }: Handshake, reading: Reading): boolean {
  if (reading.view.method !== method) return false;
  const isAsked = when.every((condition) => {
    if (!('matches' in condition)) return holds(condition, reading);
    return condition.matches.test(readSource(reading, condition.source) ?? '');
  });
  if (!isAsked || !mustEqual) return isAsked;
  const given = readSource(reading, mustEqual.source);
  const expected = renderText(mustEqual.value, reading);
  return Boolean(given && expected) && timingSafeEqual(digest(given!), digest(expected!));
}

function digest(wireText: string): Buffer {
  return hash('sha256', Buffer.from(wireText, 'latin1'), 'buffer');
}

/** Null where the reply needs something that is absent. */
function replyOf({ reply }: Handshake, keys: ProjectKeys, reading: Reading): HandshakeReply | null {
  const values: TemplateValues = { ...reading };
  if (reply.hmac) {
    const hmac = hmacOfSource(reply.hmac, keys, reading);
    if (hmac === undefined) return null;
    values.hmac = hmac;
  }
  const { status } = reply;
  if (reply.json) {
    const body: Record<string, string | number> = {};
    for (const [name, value] of Object.entries(reply.json)) {
      const text = typeof value === 'string' ? renderText(value, values) : value;
      if (text === undefined) return null;
      body[name] = typeof text === 'string' ? Buffer.from(text, 'latin1').toString('utf8') : text;
    }
    return { status, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) };
  }
  if (reply.text === undefined) return { status, contentType: null, body: Buffer.alloc(0) };
  const text = renderText(reply.text, values);
  return text === undefined ? null : { status, contentType: 'text/plain', body: Buffer.from(text, 'latin1') };
}

function hmacOfSource(
  { of, alg, key: form }: NonNullable<Handshake['reply']['hmac']>,
  { secrets }: ProjectKeys,
  reading: Reading,
): string | undefined {
  const value = readSource(reading, of);
  const key = secrets[0] && decodeHmacKey({ key: form }, secrets[0].key);
  if (value === undefined || !key) return undefined;
  return createHmac(alg, key).update(value, 'latin1').digest('hex');
}
