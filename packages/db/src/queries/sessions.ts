import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';
import type { ConsoleLink } from './console-links.ts';

/** A session lasts this long, however much it is used. */
const lifetime = `interval '12 hours'`;
/** A session that is not used for this long has expired. */
const idleMax = `interval '2 hours'`;

export type Session = Pick<
  ConsoleLink,
  'subject' | 'role' | 'projectId' | 'hidePayloads' | 'returnUrl' | 'createdBy'
> & {
  id: string;
  status: 'active' | 'expired' | 'revoked';
  /** At the latest: a session that is not used for two hours expires before. */
  expiresAt: Date;
  revokedAt: Date | null;
  /** To the minute. */
  lastUsedAt: Date;
  createdAt: Date;
};

/** A row of `sessions`, with the columns of its link under their own names. */
const from = `(select s.*, l.subject, l.role, l.project_id, l.hide_payloads, l.return_url, l.created_by
  from sessions s join console_links l on l.id = s.link_id) as s`;
/** Whether the row `s` of `sessions` has expired. */
export const isOver = `(s.expires_at <= now() or s.last_used_at <= now() - ${idleMax})`;
const columns = `s.id, subject, role, project_id as "projectId", hide_payloads as "hidePayloads", return_url as "returnUrl",
  created_by as "createdBy", s.expires_at as "expiresAt", s.revoked_at as "revokedAt", s.last_used_at as "lastUsedAt",
  s.created_at as "createdAt",
  case when s.revoked_at is not null then 'revoked' when ${isOver} then 'expired' else 'active' end as status`;

/** False when the link has signed in a browser already. */
export async function insertSession(
  client: Queryable,
  session: { id: string; linkId: string; tokenSha256: string },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into sessions (id, link_id, token_sha256, expires_at) values ($1, $2, $3, now() + ${lifetime})
     on conflict (link_id) do nothing`,
    [session.id, session.linkId, session.tokenSha256],
  );
  return rowCount === 1;
}

/** Null when no session has this token; also one that has expired or was revoked is returned. */
export async function findSession(client: Queryable, tokenSha256: string): Promise<Session | null> {
  const { rows } = await client.query<Session>(`select ${columns} from ${from} where s.token_sha256 = $1`, [
    tokenSha256,
  ]);
  return rows[0] ?? null;
}

/** Null when there is none. */
export async function readSession(client: Queryable, sessionId: string): Promise<Session | null> {
  const { rows } = await client.query<Session>(`select ${columns} from ${from} where s.id = $1`, [sessionId]);
  return rows[0] ?? null;
}

/** Records that a session is used now, at most once a minute. */
export async function touchSession(client: Queryable, sessionId: string): Promise<void> {
  await client.query(
    `update sessions set last_used_at = now() where id = $1 and last_used_at < now() - interval '1 minute'`,
    [sessionId],
  );
}

/** A page of the sessions of one project, or of all sessions. */
export function readSessionPage(
  client: Queryable,
  { projectId }: { projectId: string | null },
  page: PageRequest,
): Promise<Session[]> {
  const where = projectId === null ? [] : ['project_id = $1'];
  const values = projectId === null ? [] : [projectId];
  return readKeysetPage<Session>(
    client,
    { columns, from, where, values, at: 's.created_at', id: 's.id' },
    page,
  );
}

/** Revokes a session for good; one that was revoked before keeps its time. */
export async function revokeSession(client: Queryable, sessionId: string): Promise<void> {
  await client.query('update sessions set revoked_at = coalesce(revoked_at, now()) where id = $1', [
    sessionId,
  ]);
}

/** The ids of the active sessions of one project and of one subject where they are given, without one session. */
export async function listActiveSessions(
  client: Queryable,
  {
    projectId,
    subject,
    exceptId,
  }: { projectId: string | null; subject: string | null; exceptId: string | null },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select s.id from ${from}
     where s.revoked_at is null and not ${isOver} and ($1::uuid is null or project_id = $1)
       and ($2::text is null or subject = $2) and ($3::uuid is null or s.id <> $3)`,
    [projectId, subject, exceptId],
  );
  return rows.map(({ id }) => id);
}
