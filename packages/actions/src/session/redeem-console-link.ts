import { inTransaction } from '@hqrelay/db/in-transaction';
import { findConsoleLink } from '@hqrelay/db/queries/console-links';
import { findSession, insertSession, readSession, type Session } from '@hqrelay/db/queries/sessions';
import { hashToken, newToken } from '@hqrelay/domain/access/token';
import { newId } from '@hqrelay/domain/ids';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Actor } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { revokeWithin } from './revoke-sessions.ts';

const askForAnother = 'ask for a new one where you got it';

/**
 * Signs a browser in with the token of a link, which works once. The caller puts `token` into a cookie, in the place of
 * `replacedToken`: no browser has the session of that one any more, so it ends.
 */
export async function redeemConsoleLink(
  { pool }: Pick<ActionDeps, 'pool'>,
  { linkToken, replacedToken }: { linkToken: string; replacedToken: string | undefined },
): Promise<ActionResult<{ session: Session; token: string }>> {
  const linkSha256 = hashToken('console_link', linkToken);
  const token = newToken('session');
  return inTransaction(pool, async (client) => {
    const link = linkSha256 === null ? null : await findConsoleLink(client, linkSha256);
    if (!link) {
      return refused('console_link.not_found', `this sign-in link is not known here: ${askForAnother}`);
    }
    if (link.status === 'expired') {
      return refused('console_link.expired', `this sign-in link has expired: ${askForAnother}`);
    }
    const session = {
      id: newId(Date.now()),
      linkId: link.id,
      tokenSha256: hashToken('session', token) as string,
    };
    if (link.status === 'used' || !(await insertSession(client, session))) {
      return refused('console_link.used', `this sign-in link has been used: ${askForAnother}`);
    }
    const actor = `session:${link.subject}` as const;
    await revokeReplaced(client, actor, replacedToken);
    await recordChange(client, actor, {
      action: 'session.create',
      projectId: link.projectId,
      target: session.id,
      before: null,
      after: { consoleLinkId: link.id, role: link.role, hidePayloads: link.hidePayloads },
    });
    return done({ session: (await readSession(client, session.id)) as Session, token });
  });
}

async function revokeReplaced(client: pg.PoolClient, actor: Actor, token: string | undefined): Promise<void> {
  const tokenSha256 = token === undefined ? null : hashToken('session', token);
  const replaced = tokenSha256 === null ? null : await findSession(client, tokenSha256);
  if (replaced?.status === 'active') await revokeWithin(client, actor, replaced.id);
}
