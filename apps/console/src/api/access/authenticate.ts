import { findApiKey, touchApiKey } from '@hqrelay/db/queries/api-keys';
import { findSession, touchSession } from '@hqrelay/db/queries/sessions';
import { hashToken } from '@hqrelay/domain/access/token';
import type { Request } from 'express';
import type pg from 'pg';
import { readSessionCookie } from './cookie.ts';
import { refuseForeignChange } from './foreign-request.ts';
import type { ErrorAnswer } from '../answer.ts';
import { callerOfKey, callerOfSession, type Caller } from './caller.ts';
import type { ApiDeps } from '../request-context.ts';

const challenge = { 'WWW-Authenticate': 'Bearer realm="hqrelay"' };
const touchEveryMs = 60_000;

/** The active key of the `Authorization` header, or where there is none the active session of the cookie. */
export async function authenticate(
  { stores, cookie }: Pick<ApiDeps, 'stores' | 'cookie'>,
  request: Request,
  now: number,
): Promise<Caller | ErrorAnswer> {
  const { pool } = stores.postgres;
  const authorization = request.get('authorization');
  const token = authorization === undefined ? readSessionCookie(request, cookie) : undefined;
  if (token === undefined) return callerOfHeader(pool, authorization, now);
  return refuseForeignChange(request, cookie.consoleUrl) ?? callerOfCookie(pool, token, now);
}

/** One answer for every header without an active key, so that it tells nothing about keys. */
async function callerOfHeader(
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
  if (key.lastUsedAt === null || now - key.lastUsedAt.getTime() > touchEveryMs)
    await touchApiKey(pool, key.id);
  return callerOfKey(key);
}

async function callerOfCookie(pool: pg.Pool, token: string, now: number): Promise<Caller | ErrorAnswer> {
  const tokenSha256 = hashToken('session', token);
  const session = tokenSha256 === null ? null : await findSession(pool, tokenSha256);
  if (!session) return refuseSession('session.unknown');
  if (session.status !== 'active') return refuseSession('session.ended');
  if (now - session.lastUsedAt.getTime() > touchEveryMs) await touchSession(pool, session.id);
  return callerOfSession(session);
}

function refuseSession(code: 'session.unknown' | 'session.ended'): ErrorAnswer {
  return { statusCode: 401, code, message: 'Your session has ended: open a new sign-in link' };
}
