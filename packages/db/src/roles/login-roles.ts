import pg from 'pg';
import { scramVerifier } from './scram-verifier.ts';

const triesMax = 10;
const insufficientPrivilege = '42501';

/** Makes a role where it is missing; one that exists keeps its attributes and its password. */
export async function ensureRole(
  owner: pg.Client,
  role: string,
  kind: 'login' | 'nologin',
  password = '',
): Promise<void> {
  const secret = password === '' ? '' : ` password ${pg.escapeLiteral(await scramVerifier(password))}`;
  await untilDone(owner, {
    isDone: 'select from pg_roles where rolname = $1',
    values: [role],
    statement: `create role ${pg.escapeIdentifier(role)} ${kind}${secret}`,
  });
}

/** Makes a user a member of a group. */
export async function join(owner: pg.Client, group: string, user: string): Promise<void> {
  await untilDone(owner, {
    isDone: `select from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles u on u.oid = m.member
       where g.rolname = $1 and u.rolname = $2`,
    values: [group, user],
    statement: `grant ${group} to ${pg.escapeIdentifier(user)}`,
  });
}

export function isRefused(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === insufficientPrivilege;
}

type Step = { isDone: string; values: readonly string[]; statement: string };

/**
 * Runs `statement` unless `isDone` finds a row. Roles belong to the whole server: another database's migration may do the same.
 * Where the owner may not run it, the error says what an administrator has to run.
 */
async function untilDone(owner: pg.Client, { isDone, values, statement }: Step): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { rowCount } = await owner.query(isDone, [...values]);
    if (rowCount) return;
    try {
      await owner.query(statement);
      return;
    } catch (error) {
      if (isRefused(error)) {
        error.message += `: let an administrator run ${statement.replace(/ password .*/, '')}, then migrate again`;
      }
      if (tries === triesMax || !isRace(error)) throw error;
    }
  }
}

/** Another session made or changed the same role or membership: duplicate_object, unique_violation, or a concurrent update. */
function isRace(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '42710' || error.code === '23505' || error.message === 'tuple concurrently updated';
}
