import { inTransaction } from '@hqrelay/db/in-transaction';
import { expireConsoleLinks } from '@hqrelay/db/queries/console-links';
import * as queries from '@hqrelay/db/queries/sessions';
import type { Session } from '@hqrelay/db/queries/sessions';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Actor } from '../action.ts';
import { recordChange } from '../record-change.ts';

type Deps = Pick<ActionDeps, 'pool' | 'actor'>;

/** Ends a session, from its next request on and for good. */
export async function revokeSession(
  { pool, actor }: Deps,
  sessionId: string,
): Promise<ActionResult<Session>> {
  return inTransaction(pool, async (client) => {
    const after = await revokeWithin(client, actor, sessionId);
    return after ? done(after) : refused('session.not_found', `there is no session ${sessionId}`);
  });
}

/**
 * Ends every active session of one project, of one subject, or of all where they are null, and the links that would begin another
 * one. The session of the caller stays.
 */
export async function revokeSessions(
  { pool, actor }: Deps,
  filter: { projectId: string | null; subject: string | null; exceptId: string | null },
): Promise<ActionResult<{ count: number }>> {
  return inTransaction(pool, async (client) => {
    await expireConsoleLinks(client, filter);
    const ids = await queries.listActiveSessions(client, filter);
    for (const id of ids) await revokeWithin(client, actor, id);
    return done({ count: ids.length });
  });
}

/** Ends a session in the transaction of `client`. Null when there is none. */
export async function revokeWithin(
  client: pg.PoolClient,
  actor: Actor,
  sessionId: string,
): Promise<Session | null> {
  const before = await queries.readSession(client, sessionId);
  if (!before) return null;
  await queries.revokeSession(client, sessionId);
  const after = (await queries.readSession(client, sessionId)) as Session;
  await recordChange(client, actor, {
    action: 'session.revoke',
    projectId: after.projectId,
    target: sessionId,
    before: { status: before.status, revokedAt: before.revokedAt },
    after: { status: after.status, revokedAt: after.revokedAt },
    ...(before.revokedAt === null && { more: { subject: after.subject } }),
  });
  return after;
}
