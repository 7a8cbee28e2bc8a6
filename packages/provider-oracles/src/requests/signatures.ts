import { createHash, createHmac } from 'node:crypto';

type Bytes = string | Buffer;

/** The HMAC of the joined parts. Strings are UTF-8. */
export function hmac(
  algorithm: 'sha1' | 'sha256' | 'sha512',
  key: Bytes,
  encoding: 'hex' | 'base64',
  ...parts: readonly Bytes[]
): string {
  return createHmac(algorithm, key)
    .update(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
    .digest(encoding);
}

export function sha256Hex(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function unixSeconds(at: number): string {
  return String(Math.floor(at / 1_000));
}

/** The key bytes of a Standard Webhooks secret. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
