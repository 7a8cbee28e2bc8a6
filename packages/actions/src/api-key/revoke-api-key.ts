import { inTransaction } from '@hqrelay/db/in-transaction';
import * as queries from '@hqrelay/db/queries/api-keys';
import type { ApiKey } from '@hqrelay/db/queries/api-keys';
import { done, refused, type ActionDeps, type ActionResult } from '../action.ts';
import { recordChange } from '../record-change.ts';

/** Stops a key from being accepted, from the next request on and for good. */
export async function revokeApiKey(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  apiKeyId: string,
): Promise<ActionResult<ApiKey>> {
  return inTransaction(pool, async (client) => {
    const before = await queries.readApiKey(client, apiKeyId);
    if (!before) return refused('api_key.not_found', `there is no API key ${apiKeyId}`);
    const after = await queries.revokeApiKey(client, apiKeyId);
    await recordChange(client, actor, {
      action: 'api_key.revoke',
      projectId: after.projectId,
      target: apiKeyId,
      before: { status: before.status, revokedAt: before.revokedAt },
      after: { status: after.status, revokedAt: after.revokedAt },
    });
    return done(after);
  });
}
