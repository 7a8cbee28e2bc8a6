import { inTransaction } from '@hqrelay/db/in-transaction';
import { findConsoleLink } from '@hqrelay/db/queries/console-links';
import { insertSession, readSession, type Session } from '@hqrelay/db/queries/sessions';
import { hashToken, newToken } from '@hqrelay/domain/access/token';
import { newId } from '@hqrelay/domain/ids';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';

const askForAnother = 'ask for a new one where you got it';

/** Signs a browser in with the token of a link, which works once. The caller puts `token` into a cookie. */
export async function redeemConsoleLink(
  { pool }: Pick<ActionDeps, 'pool'>,
  linkToken: string,
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
    await recordChange(client, `session:${link.subject}`, {
      action: 'session.create',
      projectId: link.projectId,
      target: session.id,
      before: null,
      after: { consoleLinkId: link.id, role: link.role, hidePayloads: link.hidePayloads },
    });
    return done({ session: (await readSession(client, session.id)) as Session, token });
  });
}
