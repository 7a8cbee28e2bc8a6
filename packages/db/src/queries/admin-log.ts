import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';

export type AdminLogRow = {
  id: string;
  /** `cli:<user>`, `key:<id>`, `session:<subject>` or `relay`. */
  actor: string;
  /** `noun.verb`, such as `endpoint.pause`. */
  action: string;
  projectId: string | null;
  /** The id of the changed thing. */
  target: string | null;
  /** JSON without secrets. */
  details: object;
};

/** Inserts the row of a change, in the transaction that makes the change. */
export async function insertAdminLog(client: pg.PoolClient, row: AdminLogRow): Promise<void> {
  await client.query(
    'insert into admin_log (id, actor, action, project_id, target, details) values ($1, $2, $3, $4, $5, $6)',
    [row.id, row.actor, row.action, row.projectId, row.target, JSON.stringify(row.details)],
  );
}

export type AdminLogEntry = AdminLogRow & { createdAt: Date };

/** A page of the changes of one project, or of all of them. `target` is the id of a changed thing. */
export function readAdminLogPage(
  client: Queryable,
  filter: { projectId: string | null; target: string | undefined },
  page: PageRequest,
): Promise<AdminLogEntry[]> {
  const conditions = [
    ['project_id', filter.projectId ?? undefined],
    ['target', filter.target],
  ] as const;
  const given = conditions.filter(([, value]) => value !== undefined);
  const list = {
    columns: `id, actor, action, project_id as "projectId", target, details, created_at as "createdAt"`,
    from: 'admin_log',
    where: given.map(([column], index) => `${column} = $${index + 1}`),
    values: given.map(([, value]) => value),
    at: 'created_at',
    id: 'id',
  };
  return readKeysetPage<AdminLogEntry>(client, list, page);
}
