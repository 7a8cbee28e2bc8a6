import type { Queryable } from '../queryable.ts';
import type { SealedRow } from './projects.ts';

/**
 * Inserts a signing secret; the active ones sign too until the overlap ends, or until they expire earlier. Returns that
 * moment.
 */
export async function rotateEndpointSecret(
  client: Queryable,
  { endpointId, secret, overlapMs }: { endpointId: string; secret: SealedRow; overlapMs: number },
): Promise<{ overlapEndsAt: Date }> {
  const { rows } = await client.query<{ overlapEndsAt: Date }>(
    `with overlap as (
       select (now() + make_interval(secs => $2))::timestamptz(3) as ends_at
     ), old as (
       update endpoint_secrets set expires_at = ends_at from overlap
       where endpoint_id = $1 and (expires_at is null or expires_at > ends_at)
     ), new as (
       insert into endpoint_secrets (id, endpoint_id, sealed, key_id) values ($3, $1, $4, $5)
     )
     select ends_at as "overlapEndsAt" from overlap`,
    [endpointId, overlapMs / 1_000, secret.id, secret.sealed, secret.keyId],
  );
  return rows[0] as { overlapEndsAt: Date };
}
