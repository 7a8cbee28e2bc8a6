import type { Queryable } from '../queryable.ts';
import { isOver } from './sessions.ts';

/** Those of the ids that are an active API key or an active session. */
export async function findActiveCallers(
  client: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>(
    `select id from api_keys where id = any($1) and revoked_at is null and expires_at > now()
     union all select s.id from sessions s where s.id = any($1) and s.revoked_at is null and not ${isOver}`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}
