import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertAdminLog } from '@hqrelay/db/queries/admin-log';
import { lockProject } from '@hqrelay/db/queries/projects';
import {
  listValuesSealedOtherwise,
  replaceSealedValue,
  type SealedValue,
} from '@hqrelay/db/queries/sealed-values';
import { newId } from '@hqrelay/domain/ids';
import {
  open,
  parseSecretKeys,
  seal,
  SecretUnreadable,
  type SecretKeys,
} from '@hqrelay/domain/secrets/secret-box';
import { done, refused, type ActionResult, type SealingDeps } from '../action.ts';

const batchRows = 100;

/**
 * Seals every secret in Postgres with the first key of HQRELAY_SECRETS_KEY, so that the others can be retired: secrets of
 * projects and endpoints, fixed headers and client certificates. Safe beside running apps and other commands: a value that
 * another command replaces meanwhile is left to it and looked at again. A second run has nothing left to do.
 */
export async function resealSecrets(deps: SealingDeps): Promise<ActionResult<{ resealed: number }>> {
  const keys = parseSecretKeys(deps.secretsKey());
  const unreadable = new Map<string, string>();
  let resealed = 0;
  for (let isComplete = false; !isComplete;) {
    isComplete = true;
    let last: SealedValue | undefined;
    for (;;) {
      const batch = await listValuesSealedOtherwise(deps.pool, keys.current.id, last, batchRows);
      if (batch.length === 0) break;
      last = batch.at(-1);
      for (const values of byProject(batch)) {
        const outcome = await resealProject(deps, keys, values, unreadable);
        resealed += outcome.resealed;
        if (outcome.wasOvertaken) isComplete = false;
      }
    }
  }
  if (unreadable.size === 0) return done({ resealed });
  const [first] = unreadable.values();
  const message = `${resealed} values were resealed; ${unreadable.size} could not be opened: ${first}`;
  return refused('secret.unreadable', message);
}

function byProject(values: readonly SealedValue[]): SealedValue[][] {
  const projects = new Map<string, SealedValue[]>();
  for (const value of values) {
    projects.set(value.projectId, [...(projects.get(value.projectId) ?? []), value]);
  }
  return [...projects.values()];
}

/** One transaction for the values of one project. It locks the project first, as every change of its configuration does. */
async function resealProject(
  { pool, actor, announceChange }: SealingDeps,
  keys: SecretKeys,
  values: readonly SealedValue[],
  unreadable: Map<string, string>,
): Promise<{ resealed: number; wasOvertaken: boolean }> {
  const projectId = (values[0] as SealedValue).projectId;
  let resealed = 0;
  let wasOvertaken = false;
  await inTransaction(pool, async (client) => {
    await lockProject(client, projectId);
    for (const value of values) {
      const row = `${value.place}:${value.id}`;
      const plaintext = openOrReport(keys, value, row, unreadable);
      if (plaintext === undefined) continue;
      if (await replaceSealedValue(client, value, seal(keys, plaintext, row))) resealed += 1;
      else wasOvertaken = true;
    }
    if (resealed === 0) return;
    const details = { resealed, keyId: keys.current.id };
    await insertAdminLog(client, {
      id: newId(Date.now()),
      actor,
      action: 'secret.reseal',
      projectId,
      target: projectId,
      details,
    });
  });
  if (resealed > 0) await announceChange(projectId, { isNew: false });
  return { resealed, wasOvertaken };
}

function openOrReport(
  keys: SecretKeys,
  value: SealedValue,
  row: string,
  unreadable: Map<string, string>,
): string | undefined {
  try {
    return open(keys, value, row);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    unreadable.set(row, error.message);
    return undefined;
  }
}
