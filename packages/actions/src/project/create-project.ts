import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertProject, type Project, type ProjectSettings } from '@hqrelay/db/queries/projects';
import { newId } from '@hqrelay/domain/ids';
import { done, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { chooseProjectSecret, type GivenSecret } from '../sealing/choose-project-secret.ts';
import { sealSecret } from '../sealing/seal-secret.ts';

export type NewProject = {
  name: string;
  provider: string;
  settings: Partial<ProjectSettings>;
  secret?: GivenSecret | undefined;
};

/** The caller gets the value of the secret this once. */
export type CreatedProject = { project: Project; secret: string };

const defaults = {
  rateLimitPerMinute: 100,
  idempotencyTtlSeconds: 86_400,
  onConflict: 'reject',
  requireTimestamp: false,
  sameBody: 'accept',
  enabled: true,
} as const;

/** Creates a project with its first secret. */
export async function createProject(
  deps: SealingDeps,
  { name, provider, settings, secret: given }: NewProject,
): Promise<ActionResult<CreatedProject>> {
  const secret = chooseProjectSecret(provider, given);
  if (secret.kind === 'refused') return secret;
  const sealed = sealSecret(deps.secretsKey(), 'project_secrets', secret.value);
  const project = await inTransaction(deps.pool, async (client) => {
    const inserted = await insertProject(client, {
      id: newId(Date.now()),
      provider,
      settings: { ...defaults, ...settings, name },
      secret: sealed,
    });
    await recordChange(client, deps.actor, {
      action: 'project.create',
      projectId: inserted.id,
      target: inserted.id,
      before: null,
      after: inserted,
      more: { secretId: sealed.id },
    });
    return inserted;
  });
  await deps.announceChange(project.id, { isNew: true });
  return done({ project, secret: secret.value }, secret.warnings);
}
