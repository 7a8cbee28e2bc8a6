import type { SignatureScheme } from './signature.ts';

/** A key that makes a request a duplicate under any webhook id. */
export type ContentKey = {
  /** Of one project. No two kinds of content have the same name. */
  name: string;
  ttlSeconds: number;
  /** It stands for the body alone, so a row of the same body proves the duplicate when the key is lost. */
  isBody: boolean;
};

/** The key of a signature that covers a timestamp, for as long as the request could be sent again; else null. */
export function signatureKeyOf({ timestamp }: SignatureScheme, mac: Buffer): ContentKey | null {
  if (!timestamp) return null;
  return {
    name: `signature:${mac.toString('hex')}`,
    ttlSeconds: 2 * timestamp.toleranceSeconds,
    isBody: false,
  };
}

/** The key of a body, for projects whose webhooks are told apart by their bodies. */
export function bodyKeyOf(payloadSha256: string, windowSeconds: number): ContentKey {
  return { name: `body:${payloadSha256}`, ttlSeconds: windowSeconds, isBody: true };
}
