import type { Queryable } from '../queryable.ts';

/** A sealed secret that no longer verifies anything. */
export type RetiredSecretRow = {
  id: string;
  projectId: string;
  sealed: string;
  keyId: string;
  how: 'expired' | 'revoked';
  /** ms since epoch. */
  retiredAt: number;
};

/** The secrets of these projects that have expired or were revoked, the last five of each. */
export async function findRetiredSecrets(
  client: Queryable,
  projectIds: readonly string[],
): Promise<RetiredSecretRow[]> {
  const { rows } = await client.query<Omit<RetiredSecretRow, 'retiredAt'> & { retiredAt: Date }>(
    `select s.id, asked.project_id as "projectId", s.sealed, s.key_id as "keyId", s.how, s.retired_at as "retiredAt"
     from unnest($1::uuid[]) as asked (project_id)
     cross join lateral (
       select id, sealed, key_id, case when revoked_at is null then 'expired' else 'revoked' end as how,
         coalesce(revoked_at, expires_at) as retired_at
       from project_secrets
       where project_id = asked.project_id and (revoked_at is not null or expires_at <= now())
       order by coalesce(revoked_at, expires_at) desc, id desc limit 5
     ) as s`,
    [projectIds],
  );
  return rows.map((row) => ({ ...row, retiredAt: row.retiredAt.getTime() }));
}
