import { archiveEndpointsOf } from '@hqrelay/db/queries/endpoints';
import { cancelReplayJobsOf } from '@hqrelay/db/queries/replay-jobs';
import { updateProject, type Project } from '@hqrelay/db/queries/projects';
import { done, runAction, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';

/**
 * Disables and hides a project and its endpoints for good. Its webhooks are answered 401, nothing is sent any more: what
 * waits is held and stays in the books.
 */
export async function archiveProject(deps: ActionDeps, projectId: string): Promise<ActionResult<Project>> {
  return runAction(
    deps,
    async (client) => {
      const before = await takeProject(client, projectId);
      if (before.kind === 'refused') return before;
      const endpoints = await archiveEndpointsOf(client, projectId, 'its project is archived');
      const cancelledJobIds = await cancelReplayJobsOf(client, { projectId });
      const after = (await updateProject(client, projectId, {
        enabled: false,
        archivedAt: new Date(),
      })) as Project;
      await recordChange(client, deps.actor, {
        action: 'project.archive',
        projectId,
        target: projectId,
        before: before.value,
        after,
        more: { endpointIds: endpoints.map(({ id }) => id), cancelledJobIds },
      });
      return done(after);
    },
    ({ id }) => id,
  );
}
