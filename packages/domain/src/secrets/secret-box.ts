import { createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A key that encrypts secrets at rest: a KeyObject, which no log and no inspection prints. */
export type SecretKey = { id: string; key: KeyObject };

/** `current` encrypts; each of `all` (by key id) decrypts. */
export type SecretKeys = { current: SecretKey; all: Map<string, SecretKey> };

/** A stored secret that cannot be read back. The message names the key id and the row, never a value. */
export class SecretUnreadable extends Error {
  override name = 'SecretUnreadable';
}

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/**
 * The keys of HQRELAY_SECRETS_KEY: base64 of 32 bytes each, separated by commas, the first one encrypts.
 * Throws RangeError saying which one is wrong and how, without its value.
 */
export function parseSecretKeys(list: string): SecretKeys {
  const items = list.split(',').map((item) => item.trim());
  const keys = items.map((item, index) =>
    parseKey(item, items.length === 1 ? 'the key' : `key ${index + 1}`),
  );
  return { current: keys[0]!, all: new Map(keys.map((key) => [key.id, key])) };
}

/** Encrypts a secret for one row, such as `project_secrets:<id>`. It does not open in another row. */
export function seal(keys: SecretKeys, plaintext: string, row: string): { keyId: string; sealed: string } {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, keys.current.key, iv, { authTagLength: tagBytes });
  sealing.setAAD(Buffer.from(row, 'utf8'));
  const ciphertext = Buffer.concat([sealing.update(plaintext, 'utf8'), sealing.final()]);
  const sealed = Buffer.concat([iv, sealing.getAuthTag(), ciphertext]).toString('base64');
  return { keyId: keys.current.id, sealed };
}

/** The secret that `seal` put into this row. Throws SecretUnreadable. */
export function open(keys: SecretKeys, box: { keyId: string; sealed: string }, row: string): string {
  const secretKey = keys.all.get(box.keyId);
  if (!secretKey) {
    throw new SecretUnreadable(
      `${row} was sealed with key ${box.keyId}, which HQRELAY_SECRETS_KEY does not list`,
    );
  }
  const bytes = Buffer.from(box.sealed, 'base64');
  if (bytes.length < ivBytes + tagBytes) {
    throw new SecretUnreadable(`${row}, sealed with key ${box.keyId}, is cut short`);
  }
  const opening = createDecipheriv(cipher, secretKey.key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  opening.setAAD(Buffer.from(row, 'utf8'));
  opening.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  try {
    return Buffer.concat([opening.update(bytes.subarray(ivBytes + tagBytes)), opening.final()]).toString(
      'utf8',
    );
  } catch {
    throw new SecretUnreadable(`${row}, sealed with key ${box.keyId}, was changed or belongs to another row`);
  }
}

function parseKey(text: string, name: string): SecretKey {
  const example = 'make one with: openssl rand -base64 32';
  if (text === '') throw new RangeError(`${name} is empty; ${example}`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new RangeError(`${name} is not base64; ${example}`);
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes) {
    throw new RangeError(`${name} is ${bytes.length} bytes long instead of ${keyBytes}; ${example}`);
  }
  return { id: hash('sha256', bytes).slice(0, 8), key: createSecretKey(bytes) };
}
