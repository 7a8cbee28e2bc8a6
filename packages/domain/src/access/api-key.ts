import { hash, randomBytes } from 'node:crypto';

const form = /^hqr_[A-Za-z0-9_-]{43}$/;

/** A new API key: `hqr_` and 32 random bytes in base64url. */
export function newApiKey(): string {
  return `hqr_${randomBytes(32).toString('base64url')}`;
}

/** The hex SHA-256 that is stored of a key; null for a text that cannot be one. No salt: a key has 256 random bits. */
export function hashApiKey(text: string): string | null {
  return form.test(text) ? hash('sha256', text) : null;
}
