import * as queries from '@hqrelay/db/queries/project-secrets';
import { findPreset } from '@hqrelay/domain/providers/presets';
import { done, refused, runAction, type ActionResult, type SealingDeps } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { chooseProjectSecret, type GivenSecret } from '../sealing/choose-project-secret.ts';
import { sealSecret } from '../sealing/seal-secret.ts';
import { takeProject } from '../take-project.ts';

/** The caller gets the value of the secret this once. */
export type RotatedProjectSecret = {
  projectId: string;
  secretId: string;
  secret: string;
  overlapEndsAt: Date;
};

/** Gives a project a new secret; the old ones verify until the overlap ends. */
export async function rotateProjectSecret(
  deps: SealingDeps,
  input: { projectId: string; secret?: GivenSecret | undefined; overlapMs: number },
): Promise<ActionResult<RotatedProjectSecret>> {
  const { projectId, overlapMs } = input;
  return runAction(
    deps,
    async (client) => {
      const project = await takeProject(client, projectId);
      if (project.kind === 'refused') return project;
      const { provider, scheme } = project.value;
      const preset = findPreset(provider);
      if (!preset) return refused('project.invalid_settings', `there is no provider ${provider}`);
      const secret = chooseProjectSecret(preset, scheme, input.secret);
      if (secret.kind === 'refused') return secret;
      const sealed = sealSecret(deps.secretsKey(), 'project_secrets', secret.value);
      const { overlapEndsAt } = await queries.rotateProjectSecret(client, {
        projectId,
        secret: sealed,
        overlapMs,
      });
      await recordChange(client, deps.actor, {
        action: 'secret.rotate',
        projectId,
        target: sealed.id,
        before: null,
        after: { secretId: sealed.id, overlapEndsAt },
      });
      return done({ projectId, secretId: sealed.id, secret: secret.value, overlapEndsAt }, secret.warnings);
    },
    () => projectId,
  );
}
