import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { type DatabaseUrls, keepRoles } from './roles/keep-roles.ts';

const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url));

export type MigrateOptions = DatabaseUrls & {
  /** The owner of the schema. A direct connection: the migration lock belongs to a session. */
  migrationDatabaseUrl: string;
};

/** A migration that waits for a lock makes every statement behind it wait too, so it gives up soon and tries again. */
const lockTimeoutMs = 2_000;
const pauseMs = 3_000;
const triesMax = 20;
const lockNotAvailable = '55P03';

/**
 * Applies the missing migrations, keeps the roles of the apps, makes the partitions of this month and the next three. Two at once
 * wait for each other. Returns sentences for the operator. Throws when a table stays locked for over a minute.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionString: options.migrationDatabaseUrl,
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await client.query("select pg_advisory_lock(hashtext('hqrelay_migrate'))");
    await client.query(`set lock_timeout = ${lockTimeoutMs}`);
    for (let tries = 1; ; tries += 1) {
      try {
        return await applyOnce(client, options);
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        if (tries === triesMax) throw await blockedBy(client);
        await wait(pauseMs);
      }
    }
  } finally {
    await client.end();
  }
}

async function applyOnce(client: pg.Client, options: MigrateOptions): Promise<string[]> {
  await applyMigrations(drizzle(client), { migrationsFolder });
  const notices = await keepRoles(client, options);
  await client.query(
    'select hqrelay_ensure_partition(now() + make_interval(months => m)) from generate_series(0, 3) m',
  );
  return notices;
}

/** Drizzle wraps the error of Postgres. */
function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as { code?: string }).code === lockNotAvailable || isLockTimeout(error.cause);
}

async function blockedBy(client: pg.Client): Promise<Error> {
  const { rows } = await client.query<{ pid: number; name: string; since: Date }>(
    `select pid, application_name as name, xact_start as since from pg_stat_activity
     where datname = current_database() and xact_start < now() - interval '10 seconds' and pid <> pg_backend_pid()`,
  );
  const sessions = rows.map(({ pid, name, since }) => `${pid} (${name}, since ${since.toISOString()})`);
  return new Error(
    `a table stayed locked for ${triesMax} tries; open transactions: ${sessions.join(', ') || 'none'}`,
  );
}
