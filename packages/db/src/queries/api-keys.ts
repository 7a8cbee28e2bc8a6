import type { ApiRole } from '@hqrelay/domain/access/api-role';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';

export type ApiKey = {
  id: string;
  name: string;
  role: ApiRole;
  /** The one project that it sees; null sees all. */
  projectId: string | null;
  hidePayloads: boolean;
  status: 'active' | 'expired' | 'revoked';
  expiresAt: Date;
  revokedAt: Date | null;
  /** To the minute. */
  lastUsedAt: Date | null;
  createdAt: Date;
};

export type NewApiKey = Pick<ApiKey, 'id' | 'name' | 'role' | 'projectId' | 'hidePayloads'> & {
  /** Hex SHA-256 of the key. */
  keySha256: string;
  expiresInMs: number;
};

const columns = `id, name, role, project_id as "projectId", hide_payloads as "hidePayloads",
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as status,
  expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt", created_at as "createdAt"`;

export async function insertApiKey(client: Queryable, key: NewApiKey): Promise<ApiKey> {
  const { rows } = await client.query<ApiKey>(
    `insert into api_keys (id, name, key_sha256, role, project_id, hide_payloads, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) returning ${columns}`,
    [key.id, key.name, key.keySha256, key.role, key.projectId, key.hidePayloads, key.expiresInMs / 1_000],
  );
  return rows[0] as ApiKey;
}

/** Null when no key has this hash; also one that has expired or was revoked is returned. */
export async function findApiKey(client: Queryable, keySha256: string): Promise<ApiKey | null> {
  const { rows } = await client.query<ApiKey>(`select ${columns} from api_keys where key_sha256 = $1`, [
    keySha256,
  ]);
  return rows[0] ?? null;
}

/** Records that a key is used now, at most once a minute. */
export async function touchApiKey(client: Queryable, apiKeyId: string): Promise<void> {
  await client.query(
    `update api_keys set last_used_at = now()
     where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [apiKeyId],
  );
}

/** Null when there is none. */
export async function readApiKey(client: Queryable, apiKeyId: string): Promise<ApiKey | null> {
  const { rows } = await client.query<ApiKey>(`select ${columns} from api_keys where id = $1`, [apiKeyId]);
  return rows[0] ?? null;
}

/** Revokes a key for good and returns it as it is then; one that was revoked before keeps its time. */
export async function revokeApiKey(client: Queryable, apiKeyId: string): Promise<ApiKey> {
  const { rows } = await client.query<ApiKey>(
    `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${columns}`,
    [apiKeyId],
  );
  return rows[0] as ApiKey;
}

/** The keys of one project, or all of them, the newest first, also those that are not active any more. */
export async function listApiKeys(
  client: Queryable,
  { projectId, limit }: { projectId: string | undefined; limit: number },
): Promise<ApiKey[]> {
  const { rows } = await client.query<ApiKey>(
    `select ${columns} from api_keys where $1::uuid is null or project_id = $1
     order by created_at desc, id desc limit $2`,
    [projectId ?? null, limit],
  );
  return rows;
}

/** A page of the keys of one project, or of all keys. */
export function readApiKeyPage(
  client: Queryable,
  { projectId }: { projectId: string | null },
  page: PageRequest,
): Promise<ApiKey[]> {
  const where = projectId === null ? [] : ['project_id = $1'];
  const values = projectId === null ? [] : [projectId];
  const list = { columns, from: 'api_keys', where, values, at: 'created_at', id: 'id' };
  return readKeysetPage<ApiKey>(client, list, page);
}
