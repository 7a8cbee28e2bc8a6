import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertConsoleLink, type ConsoleLink } from '@hqrelay/db/queries/console-links';
import { returnUrlProblem } from '@hqrelay/domain/access/return-url';
import { hashToken, newToken } from '@hqrelay/domain/access/token';
import { newId } from '@hqrelay/domain/ids';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';

export type NewLink = Pick<ConsoleLink, 'subject' | 'role' | 'projectId' | 'hidePayloads' | 'returnUrl'> & {
  /** How long the link may be redeemed; its session has a lifetime of its own. */
  expiresInMs: number;
};

/** How browsers reach the console: CONSOLE_URL, or else this machine. */
export function consoleUrlOf({
  consoleUrl,
  consolePort,
}: {
  consoleUrl: string | undefined;
  consolePort: number;
}): string {
  return consoleUrl ?? `http://127.0.0.1:${consolePort}`;
}

/**
 * Makes a link that signs a browser in to the console, once. Its token is in the fragment, which no browser sends: a program that
 * follows the link to scan it does not use it up.
 */
export async function createConsoleLink(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  { consoleUrl, ...input }: NewLink & { consoleUrl: string },
): Promise<ActionResult<{ url: string; link: ConsoleLink }>> {
  const problem = input.returnUrl === null ? undefined : returnUrlProblem(input.returnUrl);
  if (problem) return refused('console_link.invalid_return_url', `the return URL ${problem}`);
  const token = newToken('console_link');
  return inTransaction(pool, async (client) => {
    if (input.projectId !== null) {
      const project = await takeProject(client, input.projectId);
      if (project.kind === 'refused') return project;
    }
    const tokenSha256 = hashToken('console_link', token) as string;
    const link = await insertConsoleLink(client, {
      ...input,
      id: newId(Date.now()),
      tokenSha256,
      createdBy: actor,
    });
    const { id, createdBy: _, ...after } = link;
    await recordChange(client, actor, {
      action: 'console_link.create',
      projectId: link.projectId,
      target: id,
      before: null,
      after,
    });
    return done({ url: `${consoleUrl}/sign-in#${token}`, link });
  });
}
