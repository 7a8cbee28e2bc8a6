import type pg from 'pg';

/**
 * Limits on how long a session of an app may block others. Postgres itself ends a statement that waits for a lock, or takes
 * too long: a client that stops waiting only closes its socket, while Postgres still runs the statement in the session.
 */
const limits = {
  lock_timeout: '2s',
  statement_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
  // For clients that are cut off: bytes that are not acknowledged, and sessions without traffic.
  tcp_user_timeout: '10s',
  tcp_keepalives_idle: '30s',
  tcp_keepalives_interval: '10s',
  tcp_keepalives_count: '3',
  // Compiling a plan takes longer than these statements do, and Postgres decides by an estimate of their cost.
  jit: 'off',
} as const;

/**
 * Sets the limits that have their default values, for one session. Only on a direct connection, where the backend is the process that
 * greeted the client: behind a transaction-mode pooler a session serves many clients, and the role's settings apply.
 */
export async function limitSession(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config(name, l.value, false) from json_each_text($1) as l (name, value) join pg_settings s using (name)
     where s.source = 'default' and pg_backend_pid() = $2`,
    [JSON.stringify(limits), (client as pg.ClientBase & { processID?: number | null }).processID ?? 0],
  );
}

/**
 * Makes the limits the defaults of a role in this database, so that they apply behind a pooler too. A value that an administrator
 * has set stays. Throws where the owner may not alter the role.
 */
export async function limitRole(owner: pg.ClientBase, role: string): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('alter role %I in database %I set %I = %L', $2::text, current_database(), name, l.value) as statement
     from json_each_text($1) as l (name, value)
     where not exists (
       select from pg_db_role_setting d, unnest(d.setconfig) as setting
       where d.setrole = (select oid from pg_roles where rolname = $2)
         and d.setdatabase in (0, (select oid from pg_database where datname = current_database()))
         and setting like name || '=%')`,
    [JSON.stringify(limits), role],
  );
  for (const { statement } of rows) await owner.query(statement);
}
