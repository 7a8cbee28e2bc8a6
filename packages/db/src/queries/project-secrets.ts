import type pg from 'pg';
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

const secret = `id, project_id as "projectId",
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as status,
  expires_at as "expiresAt", revoked_at as "revokedAt", last_verified_at as "lastVerifiedAt", created_at as "createdAt"`;

/**
 * Adds a secret; the active ones expire when the overlap ends, unless they do so earlier. Returns that moment, or null
 * when there is no such project.
 */
export async function rotateProjectSecret(
  pool: pg.Pool,
  rotation: { projectId: string; secret: SealedRow; overlapMs: number },
): Promise<{ overlapEndsAt: Date } | null> {
  const { rows } = await pool.query<{ overlapEndsAt: Date }>(
    `with rotated as (
       select id, (now() + make_interval(secs => $2))::timestamptz(3) as overlap_ends_at from projects where id = $1
     ), old as (
       update project_secrets s set expires_at = overlap_ends_at from rotated
       where s.project_id = rotated.id and revoked_at is null and (expires_at is null or expires_at > overlap_ends_at)
     ), new as (
       insert into project_secrets (id, project_id, sealed, key_id) select $3, id, $4, $5 from rotated
     )
     select overlap_ends_at as "overlapEndsAt" from rotated`,
    [
      rotation.projectId,
      rotation.overlapMs / 1_000,
      rotation.secret.id,
      rotation.secret.sealed,
      rotation.secret.keyId,
    ],
  );
  return rows[0] ?? null;
}

/** A project's secrets, the newest first, also those that no longer verify anything. */
export async function listProjectSecrets(pool: pg.Pool, projectId: string): Promise<ProjectSecret[]> {
  const { rows } = await pool.query<ProjectSecret>(
    `select ${secret} from project_secrets where project_id = $1 order by created_at desc, id desc`,
    [projectId],
  );
  return rows;
}

/** Revokes a secret for good; one that was revoked before keeps its time. Null when there is no such secret. */
export async function revokeProjectSecret(pool: pg.Pool, secretId: string): Promise<ProjectSecret | null> {
  const { rows } = await pool.query<ProjectSecret>(
    `update project_secrets set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${secret}`,
    [secretId],
  );
  return rows[0] ?? null;
}
