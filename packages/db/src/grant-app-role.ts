import pg from 'pg';
import { limitRole } from './session-limits.ts';

const grants = `
  grant usage on schema public to hqrelay_app;
  grant select on all tables in schema public to hqrelay_app;
  grant insert on webhook_logs, webhook_payloads, delivery_attempts, replays, admin_log to hqrelay_app;
  grant insert, update on projects, project_secrets, endpoints, endpoint_secrets, replay_jobs to hqrelay_app;
  grant insert, update, delete on held_deliveries, outbox, idempotency_keys, dead_letters, endpoint_breakers, endpoint_releases to hqrelay_app;
  grant execute on function hqrelay_ensure_partition(timestamptz), hqrelay_drop_payloads(timestamptz, uuid, integer) to hqrelay_app;`;

/**
 * Gives the group role `hqrelay_app` what the apps need and no more (SELECT and INSERT alone on the audit tables),
 * and makes the user of `databaseUrl` a member, creating it with that URL's password when it does not exist.
 * Returns sentences for the operator about what could not be done.
 */
export async function grantAppRole(owner: pg.Client, databaseUrl: string): Promise<string[]> {
  const url = new URL(databaseUrl);
  const user = decodeURIComponent(url.username);
  const { rows } = await owner.query<{ owner: string; super: boolean }>(
    'select current_user as owner, (select rolsuper from pg_roles where rolname = current_user) as super',
  );
  try {
    await createRole(owner, 'hqrelay_app', 'nologin');
  } catch (error) {
    return [
      `the role hqrelay_app could not be made (${(error as Error).message}): let an administrator run CREATE ROLE hqrelay_app, then migrate again`,
    ];
  }
  await owner.query(grants);
  if (user === '' || user === rows[0]?.owner) {
    return [
      'DATABASE_URL is the owner of the schema: append-only is then kept by triggers alone; give the apps a user of their own and set MIGRATION_DATABASE_URL to the owner',
    ];
  }
  await createRole(owner, user, `login password ${pg.escapeLiteral(decodeURIComponent(url.password))}`);
  await owner.query(`grant hqrelay_app to ${pg.escapeIdentifier(user)}`);
  try {
    await limitRole(owner, user);
  } catch (error) {
    return [
      `the role ${user} could not be given timeouts (${(error as Error).message}): behind a pooler, let an administrator set statement_timeout and lock_timeout for it`,
    ];
  }
  return [];
}

async function createRole(owner: pg.Client, role: string, options: string): Promise<void> {
  const { rowCount } = await owner.query('select from pg_roles where rolname = $1', [role]);
  if (rowCount) return;
  try {
    await owner.query(`create role ${pg.escapeIdentifier(role)} ${options}`);
  } catch (error) {
    // Roles belong to the whole server: another database's migration may have been first.
    if (!(error instanceof pg.DatabaseError) || !['42710', '23505'].includes(error.code ?? '')) throw error;
  }
}
