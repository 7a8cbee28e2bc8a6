import type pg from 'pg';

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
