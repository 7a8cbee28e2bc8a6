import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { HmacScheme, SignedScheme } from '../scheme.ts';

/** The bytes of an HMAC key; undefined for a secret that does not decode, or decodes to nothing. */
export function decodeHmacKey({ key: form }: Pick<HmacScheme, 'key'>, secret: string): Buffer | undefined {
  if (secret === '') return undefined;
  if (form === 'sha1') return hash('sha1', secret, 'buffer');
  if (form === 'utf8') return Buffer.from(secret, 'utf8');
  const bytes =
    form === 'whsec' ? decodeExactly(secret.replace(/^whsec_/, ''), 'base64') : decodeExactly(secret, form);
  return bytes?.length ? bytes : undefined;
}

/** The SubjectPublicKeyInfo of a raw Ed25519 key is these bytes and the key. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The provider's public key; undefined for text that is none of the scheme's kind. */
export function decodePublicKey(kind: SignedScheme['kind'], secret: string): KeyObject | undefined {
  const text = secret.replace(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, '');
  const isRaw = kind === 'ed25519' && /^[0-9a-f]{64}$/i.test(text);
  const der = isRaw ? Buffer.concat([ed25519Prefix, Buffer.from(text, 'hex')]) : Buffer.from(text, 'base64');
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const type = kind === 'ecdsa' ? 'ec' : kind;
    return key.asymmetricKeyType === type ? key : undefined;
  } catch {
    // Not a public key: it verifies nothing.
    return undefined;
  }
}

function hasWholeBytes(base64: string): boolean {
  const digits = base64.replace(/=+$/, '').length;
  return digits % 4 !== 1 && (digits === base64.length || base64.length % 4 === 0);
}

/** `Buffer.from` skips characters that it cannot decode, so a malformed text would pass for a shorter one. */
export function decodeExactly(text: string, encoding: 'hex' | 'base64'): Buffer | undefined {
  const form = encoding === 'hex' ? /^(?:[0-9a-f]{2})*$/i : /^[A-Za-z0-9+/]*={0,2}$/;
  if (!form.test(text) || (encoding === 'base64' && !hasWholeBytes(text))) return undefined;
  return Buffer.from(text, encoding);
}
