import type pg from 'pg';

/** Times by id, ms since epoch. */
export type LastSeen = ReadonlyMap<string, number>;

/** Notes when projects last received something and when secrets last verified something; never moves a time back. */
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
    `update ${table} t set ${column} = seen.at
     from (select u.id, to_timestamp(u.ms / 1000.0) as at from unnest($1::uuid[], $2::bigint[]) as u (id, ms)) seen
     where t.id = seen.id and (t.${column} is null or t.${column} < seen.at)`,
    [[...times.keys()], [...times.values()]],
  );
}
