import { newId } from '@hqrelay/domain/ids';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';
import type { SealedRow } from '@hqrelay/db/queries/projects';

/** The row of a secret in one of the two tables, sealed and bound to that row. */
export function sealSecret(
  secretsKey: string,
  table: 'project_secrets' | 'endpoint_secrets',
  secret: string,
): SealedRow {
  const id = newId(Date.now());
  return { id, ...seal(parseSecretKeys(secretsKey), secret, `${table}:${id}`) };
}
