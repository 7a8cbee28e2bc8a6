import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import { readProject, updateProject, type Project } from '@hqrelay/db/queries/projects';
import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { done, refused, runAction, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { sealProviderSettings } from '../sealing/seal-provider-settings.ts';
import { takeProject } from '../take-project.ts';
import { settingProblem } from './check-provider.ts';

/** Sets what the provider of a project needs beside the secret; the settings that are not given stay. */
export async function changeProviderSettings(
  deps: SealingDeps,
  projectId: string,
  changed: Readonly<Record<string, string>>,
): Promise<ActionResult<Project>> {
  return runAction(
    deps,
    async (client) => {
      const before = await takeProject(client, projectId);
      if (before.kind === 'refused') return before;
      const problem = settingProblem(before.value.provider, changed);
      if (problem !== undefined) return refused('project.invalid_settings', problem);
      const settings = { ...(await readSettings(deps, client, projectId)), ...changed };
      await updateProject(client, projectId, sealProviderSettings(deps.secretsKey(), projectId, settings));
      const after = (await readProject(client, projectId)) as Project;
      await recordChange(client, deps.actor, {
        action: 'project.update',
        projectId,
        target: projectId,
        before: before.value,
        after,
        more: { providerSettings: Object.keys(changed) },
      });
      return done(after);
    },
    ({ id }) => id,
  );
}

async function readSettings(
  deps: SealingDeps,
  client: Parameters<typeof readProjectConfig>[0],
  projectId: string,
): Promise<Record<string, string>> {
  const config = await readProjectConfig(client, projectId);
  const { sealedSettings: sealed = null, settingsKeyId: keyId = null } = config ?? {};
  if (sealed === null || keyId === null) return {};
  const text = open(parseSecretKeys(deps.secretsKey()), { sealed, keyId }, `projects.settings:${projectId}`);
  return JSON.parse(text) as Record<string, string>;
}
