import type { Preset } from '../providers/preset.ts';
import { messagesOf, type SignedScheme } from '../providers/scheme.ts';
import type { SignatureCheck } from '../providers/signature/verify-request.ts';

/** A key that makes a request a duplicate under any webhook id. */
export type ContentKey = {
  /** Of one project. No two kinds of content have the same name. */
  name: string;
  ttlSeconds: number;
  /** It stands for the body alone, so a row of the same body proves the duplicate when the key is lost. */
  isBody: boolean;
};

/**
 * The key of a signature that covers a timestamp, for as long as the request could be sent again. Null where no timestamp is
 * covered, or where the signature covers the id too: then the same signature never comes with another id.
 */
export function signatureKeyOf(
  { scheme, signature }: Extract<SignatureCheck, { kind: 'verified' }>,
  { webhookId }: Pick<Preset, 'webhookId'>,
): ContentKey | null {
  if (!signature || !('timestamp' in scheme)) return null;
  const toleranceSeconds = scheme.timestamp?.toleranceSeconds;
  if (toleranceSeconds === undefined || isIdSigned(webhookId, scheme)) return null;
  return {
    name: `signature:${signature.toString('hex')}`,
    ttlSeconds: 2 * toleranceSeconds,
    isBody: false,
  };
}

function isIdSigned(templates: readonly string[], scheme: SignedScheme): boolean {
  const [message = ''] = messagesOf(scheme);
  const coversBody = message.includes('{body}');
  if (templates.length === 0) return coversBody;
  return templates.every((template) =>
    template.startsWith('{json:') ? coversBody : message.includes(template),
  );
}

/** The key of a body, for projects whose webhooks are told apart by their bodies. */
export function bodyKeyOf(payloadSha256: string, windowSeconds: number): ContentKey {
  return { name: `body:${payloadSha256}`, ttlSeconds: windowSeconds, isBody: true };
}
