import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import {
  updateProject,
  type Project,
  type ProjectSettings,
  type SealedProviderSettings,
} from '@hqrelay/db/queries/projects';
import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import type pg from 'pg';
import { done, refused, runAction, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { sealProviderSettings } from '../sealing/seal-provider-settings.ts';
import { takeProject } from '../take-project.ts';
import { schemeProblem, settingProblem } from './check-provider.ts';

export type ProjectChange = 'update' | 'enable' | 'disable';

/** What the provider needs beside the secret, by name. */
type ProviderSettings = Readonly<Record<string, string>>;

/** Changes what is given (at least one setting), all or nothing, and returns the changed project. */
export async function changeProject(
  deps: SealingDeps,
  projectId: string,
  verb: ProjectChange,
  { providerSettings = {}, ...settings }: Partial<ProjectSettings> & { providerSettings?: ProviderSettings },
): Promise<ActionResult<Project>> {
  return runAction(
    deps,
    async (client) => {
      const before = await takeProject(client, projectId);
      if (before.kind === 'refused') return before;
      const { provider, scheme, requireTimestamp } = { ...before.value, ...settings };
      const problem =
        schemeProblem(provider, { scheme, requireTimestamp }) ?? settingProblem(provider, providerSettings);
      if (problem !== undefined) return refused('project.invalid_settings', problem);
      const sealed = await seal(deps, client, projectId, providerSettings);
      const after = (await updateProject(client, projectId, { ...settings, ...sealed })) as Project;
      const replaced = Object.keys(providerSettings);
      await recordChange(client, deps.actor, {
        action: `project.${verb}`,
        projectId,
        target: projectId,
        before: before.value,
        after,
        ...(replaced.length > 0 && { more: { providerSettings: replaced } }),
      });
      return done(after);
    },
    ({ id }) => id,
  );
}

/** The settings of the provider with the changed ones, sealed; those that are not given stay. */
async function seal(
  { secretsKey }: SealingDeps,
  client: pg.PoolClient,
  projectId: string,
  changed: ProviderSettings,
): Promise<Partial<SealedProviderSettings>> {
  if (Object.keys(changed).length === 0) return {};
  const config = await readProjectConfig(client, projectId);
  const { sealedSettings: sealed = null, settingsKeyId: keyId = null } = config ?? {};
  const before =
    sealed === null || keyId === null
      ? '{}'
      : open(parseSecretKeys(secretsKey()), { sealed, keyId }, `projects.settings:${projectId}`);
  const settings = { ...(JSON.parse(before) as ProviderSettings), ...changed };
  return sealProviderSettings(secretsKey(), projectId, settings);
}
