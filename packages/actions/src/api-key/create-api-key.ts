import { inTransaction } from '@hqrelay/db/in-transaction';
import { insertApiKey, type ApiKey, type NewApiKey } from '@hqrelay/db/queries/api-keys';
import { hashToken, newToken } from '@hqrelay/domain/access/token';
import { newId } from '@hqrelay/domain/ids';
import { done, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { takeProject } from '../take-project.ts';

/** The caller gets the key this once. */
export type CreatedApiKey = { apiKey: ApiKey; key: string };

/** Makes a key for a program that uses the HTTP API. */
export async function createApiKey(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  input: Omit<NewApiKey, 'id' | 'keySha256'>,
): Promise<ActionResult<CreatedApiKey>> {
  const key = newToken('api_key');
  return inTransaction(pool, async (client) => {
    if (input.projectId !== null) {
      const project = await takeProject(client, input.projectId);
      if (project.kind === 'refused') return project;
    }
    const keySha256 = hashToken('api_key', key) as string;
    const apiKey = await insertApiKey(client, { ...input, id: newId(Date.now()), keySha256 });
    await recordChange(client, actor, {
      action: 'api_key.create',
      projectId: apiKey.projectId,
      target: apiKey.id,
      before: null,
      after: apiKey,
    });
    return done({ apiKey, key });
  });
}
