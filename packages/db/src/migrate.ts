import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { grantAppRole } from './grant-app-role.ts';

const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url));

export type MigrateOptions = {
  /** The owner of the schema. A direct connection: the migration lock belongs to a session. */
  migrationDatabaseUrl: string;
  /** The apps' connection; its user is created and granted the apps' role where it is not the owner. */
  databaseUrl: string;
};

/**
 * Applies what is missing, grants the apps' role, makes the partitions of this month and the next three.
 * Two at once wait for each other. Returns sentences that say what an operator should know.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({
    connectionString: options.migrationDatabaseUrl,
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('hqrelay_migrate'))");
    await applyMigrations(drizzle(client), { migrationsFolder });
    const notices = await grantAppRole(client, options.databaseUrl);
    await client.query(
      'select hqrelay_ensure_partition(now() + make_interval(months => m)) from generate_series(0, 3) m',
    );
    return notices;
  } finally {
    await client.end();
  }
}
