import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';

export type Project = {
  id: string;
  name: string;
  provider: string;
  /** Null is unlimited. */
  rateLimitPerMinute: number | null;
  idempotencyTtlSeconds: number;
  onConflict: 'reject' | 'duplicate';
  requireTimestamp: boolean;
  /** How a webhook counts whose body was accepted under another webhook id. */
  sameBody: 'accept' | 'duplicate';
  /** A scheme of its own, as JSON; null takes the provider's. */
  scheme: unknown;
  /** JSON Pointers, up to five: a webhook is found by the values that its payload has there. */
  searchKeys: string[];
  enabled: boolean;
  /** An archived project is disabled and hidden for good. */
  archivedAt: Date | null;
  lastReceivedAt: Date | null;
  createdAt: Date;
};

export type ProjectSettings = Pick<
  Project,
  | 'name'
  | 'rateLimitPerMinute'
  | 'idempotencyTtlSeconds'
  | 'onConflict'
  | 'requireTimestamp'
  | 'sameBody'
  | 'scheme'
  | 'searchKeys'
  | 'enabled'
>;

/** The provider's settings as their columns hold them; null is none. */
export type SealedProviderSettings = { sealedSettings: string | null; settingsKeyId: string | null };

/** A secret as its row holds it. */
export type SealedRow = { id: string; keyId: string; sealed: string };

const project = `id, name, provider, rate_limit_per_minute as "rateLimitPerMinute",
  idempotency_ttl_seconds as "idempotencyTtlSeconds", on_conflict as "onConflict", require_timestamp as "requireTimestamp",
  same_body as "sameBody", scheme, search_keys as "searchKeys", enabled, archived_at as "archivedAt", last_received_at as "lastReceivedAt", created_at as "createdAt"`;

const columnOf: Readonly<
  Record<keyof ProjectSettings | keyof SealedProviderSettings | 'archivedAt', string>
> = {
  name: 'name',
  rateLimitPerMinute: 'rate_limit_per_minute',
  idempotencyTtlSeconds: 'idempotency_ttl_seconds',
  onConflict: 'on_conflict',
  requireTimestamp: 'require_timestamp',
  sameBody: 'same_body',
  scheme: 'scheme',
  searchKeys: 'search_keys',
  sealedSettings: 'sealed_settings',
  settingsKeyId: 'settings_key_id',
  enabled: 'enabled',
  archivedAt: 'archived_at',
};

/** Inserts a project and its first secret, both or neither, and returns the project. */
export async function insertProject(
  client: Queryable,
  inserted: {
    id: string;
    provider: string;
    settings: ProjectSettings & SealedProviderSettings;
    secret: SealedRow;
  },
): Promise<Project> {
  const { id, provider, settings, secret } = inserted;
  const scheme = settings.scheme === null ? null : JSON.stringify(settings.scheme);
  const { rows } = await client.query<Project>(
    `with project as (
       insert into projects (id, name, provider, rate_limit_per_minute, idempotency_ttl_seconds, on_conflict, require_timestamp,
         same_body, enabled, scheme, sealed_settings, settings_key_id, search_keys)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $13, $14, $15, $16) returning *
     ), secret as (
       insert into project_secrets (id, project_id, sealed, key_id) select $10, id, $11, $12 from project
     )
     select ${project} from project`,
    [
      id,
      settings.name,
      provider,
      settings.rateLimitPerMinute,
      settings.idempotencyTtlSeconds,
      settings.onConflict,
      settings.requireTimestamp,
      settings.sameBody,
      settings.enabled,
      secret.id,
      secret.sealed,
      secret.keyId,
      scheme,
      settings.sealedSettings,
      settings.settingsKeyId,
      settings.searchKeys,
    ],
  );
  return rows[0] as Project;
}

/** The projects that are not archived, or all of them, the oldest first. */
export async function listProjects(
  pool: pg.Pool,
  { archivedToo }: { archivedToo: boolean },
): Promise<Project[]> {
  const { rows } = await pool.query<Project>(
    `select ${project} from projects where $1 or archived_at is null order by created_at, id`,
    [archivedToo],
  );
  return rows;
}

/** Null when there is none. */
export async function readProject(client: Queryable, projectId: string): Promise<Project | null> {
  const { rows } = await client.query<Project>(`select ${project} from projects where id = $1`, [projectId]);
  return rows[0] ?? null;
}

/**
 * Reads a project and keeps other changes of it, its secrets and its endpoints waiting until the transaction ends. Every
 * change takes this lock before any other, so that two changes never wait for each other. Null when there is none.
 */
export async function lockProject(client: pg.PoolClient, projectId: string): Promise<Project | null> {
  const { rows } = await client.query<Project>(
    `select ${project} from projects where id = $1 for no key update`,
    [projectId],
  );
  return rows[0] ?? null;
}

/** Updates the given settings (at least one) and returns the project as it is then; null when there is none. */
export async function updateProject(
  client: Queryable,
  projectId: string,
  changes: Partial<ProjectSettings & SealedProviderSettings & Pick<Project, 'archivedAt'>>,
): Promise<Project | null> {
  const names = Object.keys(changes) as (keyof typeof changes)[];
  const assignments = names.map((name, index) => `${columnOf[name]} = $${index + 2}`);
  const { rows } = await client.query<Project>(
    `update projects set ${assignments.join(', ')} where id = $1 returning ${project}`,
    [projectId, ...names.map((name) => changes[name])],
  );
  return rows[0] ?? null;
}

/** A page of the projects, or of the one project `projectId`; archived ones only if they are asked for. */
export function readProjectPage(
  client: Queryable,
  { projectId, archivedToo }: { projectId: string | null; archivedToo: boolean },
  page: PageRequest,
): Promise<Project[]> {
  const where = ['($1::uuid is null or id = $1)', '($2 or archived_at is null)'];
  const values = [projectId, archivedToo];
  const list = { columns: project, from: 'projects', where, values, at: 'created_at', id: 'id' };
  return readKeysetPage<Project>(client, list, page);
}
