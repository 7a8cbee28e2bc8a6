import type { Queryable } from '../queryable.ts';
import type { SealedRow } from './projects.ts';

/** A secret of a project, without its value. */
export type ProjectSecret = {
  id: string;
  projectId: string;
  status: 'active' | 'expired' | 'revoked';
  /** Null never expires. */
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastVerifiedAt: Date | null;
  createdAt: Date;
};

const secretColumns = `id, project_id as "projectId",
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as status,
  expires_at as "expiresAt", revoked_at as "revokedAt", last_verified_at as "lastVerifiedAt", created_at as "createdAt"`;

/** Inserts a secret; the active ones expire when the overlap ends, unless they do so earlier. Returns that moment. */
export async function rotateProjectSecret(
  client: Queryable,
  { projectId, secret, overlapMs }: { projectId: string; secret: SealedRow; overlapMs: number },
): Promise<{ overlapEndsAt: Date }> {
  const { rows } = await client.query<{ overlapEndsAt: Date }>(
    `with overlap as (
       select (now() + make_interval(secs => $2))::timestamptz(3) as ends_at
     ), old as (
       update project_secrets set expires_at = ends_at from overlap
       where project_id = $1 and revoked_at is null and (expires_at is null or expires_at > ends_at)
     ), new as (
       insert into project_secrets (id, project_id, sealed, key_id) values ($3, $1, $4, $5)
     )
     select ends_at as "overlapEndsAt" from overlap`,
    [projectId, overlapMs / 1_000, secret.id, secret.sealed, secret.keyId],
  );
  return rows[0] as { overlapEndsAt: Date };
}

/** A project's secrets, the newest first, also those that no longer verify anything. */
export async function listProjectSecrets(client: Queryable, projectId: string): Promise<ProjectSecret[]> {
  const { rows } = await client.query<ProjectSecret>(
    `select ${secretColumns} from project_secrets where project_id = $1 order by created_at desc, id desc`,
    [projectId],
  );
  return rows;
}

/** Null when there is none. */
export async function readProjectSecret(client: Queryable, secretId: string): Promise<ProjectSecret | null> {
  const { rows } = await client.query<ProjectSecret>(
    `select ${secretColumns} from project_secrets where id = $1`,
    [secretId],
  );
  return rows[0] ?? null;
}

/** Revokes a secret for good and returns it as it is then; one that was revoked before keeps its time. */
export async function revokeProjectSecret(client: Queryable, secretId: string): Promise<ProjectSecret> {
  const { rows } = await client.query<ProjectSecret>(
    `update project_secrets set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${secretColumns}`,
    [secretId],
  );
  return rows[0] as ProjectSecret;
}
