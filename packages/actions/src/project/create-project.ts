import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertProject, type Project, type ProjectSettings } from '@hqrelay/db/queries/projects';
import { newId } from '@hqrelay/domain/ids';
import { done, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { chooseProjectSecret, type GivenSecret } from '../sealing/choose-project-secret.ts';
import { sealProviderSettings } from '../sealing/seal-provider-settings.ts';
import { sealSecret } from '../sealing/seal-secret.ts';
import { checkProvider } from './check-provider.ts';

export type NewProject = {
  name: string;
  provider: string;
  settings: Partial<ProjectSettings>;
  /** What the provider needs beside the secret. */
  providerSettings?: Readonly<Record<string, string>> | undefined;
  secret?: GivenSecret | undefined;
};

/** The caller gets the value of the secret this once. */
export type CreatedProject = { project: Project; secret: string };

const defaults = {
  rateLimitPerMinute: 100,
  requireTimestamp: false,
  sameBody: 'accept',
  scheme: null,
  searchKeys: [] as string[],
  enabled: true,
} as const;

/** Creates a project with its first secret. What is not given is as its provider needs it. */
export async function createProject(
  deps: SealingDeps,
  { name, provider, settings, providerSettings = {}, secret: given }: NewProject,
): Promise<ActionResult<CreatedProject>> {
  const checked = checkProvider({ provider, settings, providerSettings });
  if (checked.kind === 'refused') return checked;
  const preset = checked.value;
  const secret = chooseProjectSecret(preset, settings.scheme, given);
  if (secret.kind === 'refused') return secret;
  const id = newId(Date.now());
  const ofPreset = {
    idempotencyTtlSeconds: preset.idempotencyTtlSeconds,
    onConflict: preset.changedBody,
    ...sealProviderSettings(deps.secretsKey(), id, providerSettings),
  };
  const sealed = sealSecret(deps.secretsKey(), 'project_secrets', secret.value);
  const project = await inTransaction(deps.pool, async (client) => {
    const inserted = await insertProject(client, {
      id,
      provider,
      settings: { ...defaults, ...ofPreset, ...settings, name },
      secret: sealed,
    });
    await recordChange(client, deps.actor, {
      action: 'project.create',
      projectId: inserted.id,
      target: inserted.id,
      before: null,
      after: inserted,
      more: { secretId: sealed.id, providerSettings: Object.keys(providerSettings) },
    });
    return inserted;
  });
  await deps.announceChange(project.id, { isNew: true });
  return done({ project, secret: secret.value }, [...checked.warnings, ...secret.warnings]);
}
