import type { ApiRole } from '@hqrelay/domain/access/api-role';
import type { Queryable } from '../queryable.ts';

export type ConsoleLink = {
  id: string;
  subject: string;
  role: ApiRole;
  /** The one project that its session sees; null sees all. */
  projectId: string | null;
  hidePayloads: boolean;
  returnUrl: string | null;
  createdBy: string;
  expiresAt: Date;
};

export type NewConsoleLink = Omit<ConsoleLink, 'expiresAt'> & {
  /** Hex SHA-256 of its token. */
  tokenSha256: string;
  expiresInMs: number;
};

const columns = `id, subject, role, project_id as "projectId", hide_payloads as "hidePayloads", return_url as "returnUrl",
  created_by as "createdBy", expires_at as "expiresAt"`;

export async function insertConsoleLink(client: Queryable, link: NewConsoleLink): Promise<ConsoleLink> {
  const { rows } = await client.query<ConsoleLink>(
    `insert into console_links
       (id, token_sha256, subject, role, project_id, hide_payloads, return_url, created_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9)) returning ${columns}`,
    [
      link.id,
      link.tokenSha256,
      link.subject,
      link.role,
      link.projectId,
      link.hidePayloads,
      link.returnUrl,
      link.createdBy,
      link.expiresInMs / 1_000,
    ],
  );
  return rows[0] as ConsoleLink;
}

/** Null when no link has this token; also one that has expired or was used is returned. */
export async function findConsoleLink(
  client: Queryable,
  tokenSha256: string,
): Promise<(ConsoleLink & { status: 'open' | 'expired' | 'used' }) | null> {
  const { rows } = await client.query<ConsoleLink & { status: 'open' | 'expired' | 'used' }>(
    `select ${columns}, case
         when exists (select from sessions s where s.link_id = console_links.id) then 'used'
         when expires_at <= now() then 'expired' else 'open' end as status
     from console_links where token_sha256 = $1`,
    [tokenSha256],
  );
  return rows[0] ?? null;
}

/** Ends the links that are not used yet, of one project and of one subject where they are given. */
export async function expireConsoleLinks(
  client: Queryable,
  { projectId, subject }: { projectId: string | null; subject: string | null },
): Promise<void> {
  await client.query(
    `update console_links set expires_at = now()
     where expires_at > now() and ($1::uuid is null or project_id = $1) and ($2::text is null or subject = $2)`,
    [projectId, subject],
  );
}

/** Deletes links and their sessions 30 days after both have ended; `admin_log` keeps the rows of their making. */
export async function deleteOldConsoleLinks(client: Queryable): Promise<void> {
  await client.query(
    `delete from console_links l where l.expires_at < now() - interval '30 days'
     and not exists (select from sessions s where s.link_id = l.id and s.expires_at > now() - interval '30 days')`,
  );
}
