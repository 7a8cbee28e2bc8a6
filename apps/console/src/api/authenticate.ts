import { findApiKey, touchApiKey } from '@hqrelay/db/queries/api-keys';
import { hashToken } from '@hqrelay/domain/access/token';
import type pg from 'pg';
import type { ErrorAnswer } from './answer.ts';
import { callerOfKey, type Caller } from './caller.ts';

const challenge = { 'WWW-Authenticate': 'Bearer realm="hqrelay"' };

/** The active key of an `Authorization` header. One answer for every other header, so that it tells nothing about keys. */
export async function authenticate(
  pool: pg.Pool,
  authorization: string | undefined,
  now: number,
): Promise<Caller | ErrorAnswer> {
  const [, text = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const keySha256 = hashToken('api_key', text);
  const key = keySha256 === null ? null : await findApiKey(pool, keySha256);
  if (!key || key.status !== 'active') {
    return {
      statusCode: 401,
      code: 'key.invalid',
      message: 'Give an API key that is active: Authorization: Bearer hqr_…',
      headers: challenge,
    };
  }
  if (key.lastUsedAt === null || now - key.lastUsedAt.getTime() > 60_000) await touchApiKey(pool, key.id);
  return callerOfKey(key);
}
