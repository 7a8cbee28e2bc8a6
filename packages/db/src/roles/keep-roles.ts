import pg from 'pg';
import { limitRole } from '../session-limits.ts';
import { functions, groupRoles, relations, secretColumns, type GroupRole } from './group-roles.ts';
import { ensureRole, isRefused, join } from './login-roles.ts';

export type DatabaseUrls = {
  /** Of every app that has none of its own below. */
  databaseUrl?: string | undefined;
  receiverDatabaseUrl?: string | undefined;
  workerDatabaseUrl?: string | undefined;
  consoleDatabaseUrl?: string | undefined;
};

type Login = { user: string; password: string; variables: string[]; groups: Set<GroupRole> };

const groups = Object.keys(groupRoles) as GroupRole[];

/** The group role of version 0.1.0, whose privileges stay for its processes. It is neither made nor joined any more. */
const formerGroup = 'hqrelay_app';

/**
 * Makes the group roles where they are missing, gives each exactly its privileges in this database, and makes the users of the
 * URLs members, creating those that do not exist. Roles belong to the whole server, so no membership is taken away: another
 * database may need it. Returns sentences for the operator. Throws where a user would be left without its privileges.
 */
export async function keepRoles(owner: pg.Client, urls: DatabaseUrls): Promise<string[]> {
  try {
    for (const group of groups) await ensureRole(owner, group, 'nologin');
  } catch (error) {
    if (!isRefused(error)) throw error;
    return [
      'the group roles of the apps could not be made: let an administrator run ' +
        `${groups.map((group) => `create role ${group};`).join(' ')} then migrate again`,
    ];
  }
  await grantPrivileges(owner);
  const { rows } = await owner.query<{ owner: string }>('select current_user as owner');
  const notices: string[] = [];
  for (const login of loginsOf(urls)) {
    if (login.user === '' || login.user === rows[0]?.owner) notices.push(ownerNotice(login));
    else notices.push(...(await keepLogin(owner, login)));
  }
  return notices;
}

/** In one transaction, so that running apps keep what they need. */
async function grantPrivileges(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('grant select (%s) on %I to hqrelay_reader', string_agg(quote_ident(attname), ', '), relname) as statement
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.oid = any($1::text[]::regclass[]) and attnum > 0 and not attisdropped
       and not coalesce($2::jsonb -> relname ? attname, false)
     group by relname`,
    [relations, JSON.stringify(secretColumns)],
  );
  const all = groups.join(', ');
  const statements = [
    `revoke all on ${relations.join(', ')} from ${all}`,
    `revoke all on function ${functions.join(', ')} from ${all}`,
    `grant usage on schema public to ${all}`,
    ...groups.flatMap((group) => groupRoles[group].map((privileges) => `grant ${privileges} to ${group}`)),
    ...rows.map(({ statement }) => statement),
  ];
  await owner.query(statements.join(';'));
}

/** One entry for each user. */
function loginsOf(urls: DatabaseUrls): Login[] {
  const given: [variable: string, url: string | undefined, groups: readonly GroupRole[]][] = [
    ['DATABASE_URL', urls.databaseUrl, ['hqrelay_receiver', 'hqrelay_worker', 'hqrelay_console']],
    ['RECEIVER_DATABASE_URL', urls.receiverDatabaseUrl, ['hqrelay_receiver']],
    ['WORKER_DATABASE_URL', urls.workerDatabaseUrl, ['hqrelay_worker']],
    ['CONSOLE_DATABASE_URL', urls.consoleDatabaseUrl, ['hqrelay_console']],
  ];
  const logins = new Map<string, Login>();
  for (const [variable, url, joined] of given) {
    if (url === undefined || (variable !== 'DATABASE_URL' && url === urls.databaseUrl)) continue;
    const { username, password } = new URL(url);
    const user = decodeURIComponent(username);
    const login = logins.get(user) ?? { user, password: '', variables: [], groups: new Set<GroupRole>() };
    login.password ||= decodeURIComponent(password);
    login.variables.push(variable);
    for (const group of joined) login.groups.add(group);
    logins.set(user, login);
  }
  return [...logins.values()];
}

function ownerNotice({ variables }: Login): string {
  return (
    `${variables.join(' and ')} is the owner of the schema: append-only is then kept by triggers alone; give the apps a ` +
    'user of their own and set MIGRATION_DATABASE_URL to the owner'
  );
}

async function keepLogin(owner: pg.Client, login: Login): Promise<string[]> {
  const { user, password, groups: wanted, variables } = login;
  await ensureRole(owner, user, 'login', password);
  for (const group of wanted) await join(owner, group, user);
  const notices: string[] = [];
  const more = await otherGroupsOf(owner, login);
  if (more.length > 0) {
    notices.push(
      `the user ${user} of ${variables.join(' and ')} is a member of ${more.join(', ')} too, and keeps that because another ` +
        `database may need it: REVOKE ${more.join(', ')} FROM ${pg.escapeIdentifier(user)}, or give it a user of its own`,
    );
  }
  try {
    await limitRole(owner, user);
  } catch (error) {
    notices.push(
      `the role ${user} could not be given timeouts (${(error as Error).message}): behind a pooler, let an administrator set statement_timeout and lock_timeout for it`,
    );
  }
  return notices;
}

/** The groups of a user of one app that let it do more than that app needs. */
async function otherGroupsOf(owner: pg.Client, { user, groups: wanted }: Login): Promise<string[]> {
  if (wanted.size === 3) return [];
  const { rows } = await owner.query<{ name: string }>(
    `select r.rolname as name from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member
     where u.rolname = $1 and r.rolname = any($2) order by 1`,
    [user, [...groups, formerGroup].filter((group) => !wanted.has(group as GroupRole))],
  );
  return rows.map(({ name }) => name);
}
