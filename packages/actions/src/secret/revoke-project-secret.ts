import * as queries from '@hqrelay/db/queries/project-secrets';
import type { ProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { lockProject } from '@hqrelay/db/queries/projects';
import { done, refused, runAction, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';

/** Stops a secret from verifying, everywhere and for good; also one of an archived project. */
export async function revokeProjectSecret(
  deps: ActionDeps,
  secretId: string,
): Promise<ActionResult<ProjectSecret>> {
  return runAction(
    deps,
    async (client) => {
      const found = await queries.readProjectSecret(client, secretId);
      if (!found) return refused('secret.not_found', `there is no secret ${secretId}`);
      const { projectId } = found;
      await lockProject(client, projectId);
      const before = await queries.readProjectSecret(client, secretId);
      const after = await queries.revokeProjectSecret(client, secretId);
      await recordChange(client, deps.actor, {
        action: 'secret.revoke',
        projectId,
        target: secretId,
        before,
        after,
      });
      const secrets = await queries.listProjectSecrets(client, projectId);
      const isLast = secrets.every(({ status }) => status !== 'active');
      return done(
        after,
        isLast ? ['the project has no active secret left: its webhooks are answered 401'] : [],
      );
    },
    ({ projectId }) => projectId,
  );
}
