import type pg from 'pg';

/** Times by id, ms since epoch. */
export type LastSeen = ReadonlyMap<string, number>;

/** Raises the times when projects last received something and when secrets last verified something. A locked row is left as it is. */
export async function raiseLastSeen(
  pool: pg.Pool,
  seen: { projects: LastSeen; secrets: LastSeen },
): Promise<void> {
  await raise(pool, 'projects', 'last_received_at', seen.projects);
  await raise(pool, 'project_secrets', 'last_verified_at', seen.secrets);
}

async function raise(pool: pg.Pool, table: string, column: string, times: LastSeen): Promise<void> {
  if (times.size === 0) return;
  await pool.query(
    `with seen as materialized (
       select t.id, to_timestamp(u.ms / 1000.0) as at from unnest($1::uuid[], $2::bigint[]) as u (id, ms) join ${table} t using (id)
       where t.${column} is null or t.${column} < to_timestamp(u.ms / 1000.0) for no key update of t skip locked
     )
     update ${table} t set ${column} = seen.at from seen where t.id = seen.id`,
    [[...times.keys()], [...times.values()]],
  );
}
