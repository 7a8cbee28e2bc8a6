import type pg from 'pg';

/**
 * Makes the role and the grants of a database as `migrate` of version 0.1.0 left them, with one user for every app: for a
 * database without the group roles. It describes a released version, so it must not change.
 */
export async function grantAsBefore(
  owner: pg.Client,
  user: { name: string; password: string },
): Promise<void> {
  await owner.query(`
    do $$ begin create role hqrelay_app nologin; exception when duplicate_object or unique_violation then null; end $$;
    grant usage on schema public to hqrelay_app;
    grant select on all tables in schema public to hqrelay_app;
    grant insert on webhook_logs, webhook_payloads, delivery_attempts, replays, admin_log to hqrelay_app;
    grant insert, update on projects, project_secrets, endpoints, endpoint_secrets, replay_jobs to hqrelay_app;
    grant insert, update, delete on held_deliveries, outbox, idempotency_keys, dead_letters, endpoint_breakers, endpoint_releases to hqrelay_app;
    grant execute on function hqrelay_ensure_partition(timestamptz), hqrelay_drop_payloads(timestamptz, uuid, integer) to hqrelay_app;
    create role ${user.name} login password '${user.password}';
    grant hqrelay_app to ${user.name};`);
}
