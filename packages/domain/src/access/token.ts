import { hash, randomBytes } from 'node:crypto';

/** What a token gives access with: the key of a program, a link that signs a browser in once, the session of a browser. */
export type TokenKind = 'api_key' | 'console_link' | 'session';

const prefixes: Readonly<Record<TokenKind, string>> = { api_key: 'hqr', console_link: 'hql', session: 'hqs' };

/** A new token: a prefix that tells its kind, such as `hqr_`, and 32 random bytes in base64url. */
export function newToken(kind: TokenKind): string {
  return `${prefixes[kind]}_${randomBytes(32).toString('base64url')}`;
}

/** The hex SHA-256 that is stored of a token; null for a text that is none of this kind. No salt: a token has 256 random bits. */
export function hashToken(kind: TokenKind, text: string): string | null {
  const form = new RegExp(`^${prefixes[kind]}_[A-Za-z0-9_-]{43}$`);
  return form.test(text) ? hash('sha256', text) : null;
}
