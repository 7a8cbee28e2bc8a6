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
  await untilDone(
    owner,
    'select from pg_roles where rolname = $1',
    [role],
    `create role ${pg.escapeIdentifier(role)} ${kind}${secret}`,
  );
}

/** Makes a user a member of a group. The error says what an administrator has to run where the owner may not. */
export async function join(owner: pg.Client, group: string, user: string): Promise<void> {
  const statement = `grant ${group} to ${pg.escapeIdentifier(user)}`;
  try {
    await untilDone(
      owner,
      `select from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles u on u.oid = m.member
       where g.rolname = $1 and u.rolname = $2`,
      [group, user],
      statement,
    );
  } catch (error) {
    if (isRefused(error)) error.message += `: let an administrator run ${statement}, then migrate again`;
    throw error;
  }
}

export function isRefused(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === insufficientPrivilege;
}

/** Runs `statement` unless `isDone` finds a row. Roles belong to the whole server: another database's migration may do the same. */
async function untilDone(
  owner: pg.Client,
  isDone: string,
  values: readonly string[],
  statement: string,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { rowCount } = await owner.query(isDone, [...values]);
    if (rowCount) return;
    try {
      await owner.query(statement);
      return;
    } catch (error) {
      if (tries === triesMax || !isRace(error)) throw error;
    }
  }
}

/** Another session made or changed the same role or membership: duplicate_object, unique_violation, or a concurrent update. */
function isRace(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '42710' || error.code === '23505' || error.message === 'tuple concurrently updated';
}
