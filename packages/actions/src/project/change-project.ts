import { updateProject, type Project, type ProjectSettings } from '@hqrelay/db/queries/projects';
import { done, runAction, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';

export type ProjectChange = 'update' | 'enable' | 'disable';

/** Changes the given settings (at least one) and returns the changed project. */
export async function changeProject(
  deps: ActionDeps,
  projectId: string,
  verb: ProjectChange,
  settings: Partial<ProjectSettings>,
): Promise<ActionResult<Project>> {
  return runAction(
    deps,
    async (client) => {
      const before = await takeProject(client, projectId);
      if (before.kind === 'refused') return before;
      const after = (await updateProject(client, projectId, settings)) as Project;
      await recordChange(client, deps.actor, {
        action: `project.${verb}`,
        projectId,
        target: projectId,
        before: before.value,
        after,
      });
      return done(after);
    },
    ({ id }) => id,
  );
}
