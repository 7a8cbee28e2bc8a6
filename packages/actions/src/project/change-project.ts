import { updateProject, type Project, type ProjectSettings } from '@hqrelay/db/queries/projects';
import { done, refused, runAction, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';
import { schemeProblem } from './check-provider.ts';

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
      const { provider, scheme, requireTimestamp } = { ...before.value, ...settings };
      const problem = schemeProblem(provider, { scheme, requireTimestamp });
      if (problem !== undefined) return refused('project.invalid_settings', problem);
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
