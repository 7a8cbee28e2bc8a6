import type pg from 'pg';

export type Project = {
  id: string;
  name: string;
  provider: string;
  /** Null is unlimited. */
  rateLimitPerMinute: number | null;
  idempotencyTtlSeconds: number;
  onConflict: 'reject' | 'duplicate';
  requireTimestamp: boolean;
  enabled: boolean;
  lastReceivedAt: Date | null;
  createdAt: Date;
};

export type ProjectSettings = Pick<
  Project,
  'name' | 'rateLimitPerMinute' | 'idempotencyTtlSeconds' | 'onConflict' | 'requireTimestamp' | 'enabled'
>;

export type SealedRow = { id: string; keyId: string; sealed: string };

const project = `id, name, provider, rate_limit_per_minute as "rateLimitPerMinute",
  idempotency_ttl_seconds as "idempotencyTtlSeconds", on_conflict as "onConflict", require_timestamp as "requireTimestamp",
  enabled, last_received_at as "lastReceivedAt", created_at as "createdAt"`;

const settingColumns: Readonly<Record<keyof ProjectSettings, string>> = {
  name: 'name',
  rateLimitPerMinute: 'rate_limit_per_minute',
  idempotencyTtlSeconds: 'idempotency_ttl_seconds',
  onConflict: 'on_conflict',
  requireTimestamp: 'require_timestamp',
  enabled: 'enabled',
};

/** Commits a project and its first secret, both or neither. */
export async function createProject(
  pool: pg.Pool,
  created: { id: string; provider: string; settings: ProjectSettings; secret: SealedRow },
): Promise<void> {
  const { id, provider, settings, secret } = created;
  await pool.query(
    `with project as (
       insert into projects (id, name, provider, rate_limit_per_minute, idempotency_ttl_seconds, on_conflict, require_timestamp, enabled)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id
     )
     insert into project_secrets (id, project_id, sealed, key_id) select $9, id, $10, $11 from project`,
    [
      id,
      settings.name,
      provider,
      settings.rateLimitPerMinute,
      settings.idempotencyTtlSeconds,
      settings.onConflict,
      settings.requireTimestamp,
      settings.enabled,
      secret.id,
      secret.sealed,
      secret.keyId,
    ],
  );
}

/** Every project, the oldest first. */
export async function listProjects(pool: pg.Pool): Promise<Project[]> {
  const { rows } = await pool.query<Project>(`select ${project} from projects order by created_at, id`);
  return rows;
}

/** One project; null when there is none. */
export async function readProject(pool: pg.Pool, projectId: string): Promise<Project | null> {
  const { rows } = await pool.query<Project>(`select ${project} from projects where id = $1`, [projectId]);
  return rows[0] ?? null;
}

/** Commits the given settings (at least one) and returns the project as it is then; null when there is none. */
export async function updateProject(
  pool: pg.Pool,
  projectId: string,
  changes: Partial<ProjectSettings>,
): Promise<Project | null> {
  const names = Object.keys(changes) as (keyof ProjectSettings)[];
  const assignments = names.map((name, index) => `${settingColumns[name]} = $${index + 2}`);
  const { rows } = await pool.query<Project>(
    `update projects set ${assignments.join(', ')} where id = $1 returning ${project}`,
    [projectId, ...names.map((name) => changes[name])],
  );
  return rows[0] ?? null;
}
