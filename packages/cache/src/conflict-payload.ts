import type { Cache } from './client.ts';

export type ConflictingBody = {
  projectId: string;
  webhookId: string;
  payloadSha256: string;
  idempotencyTtlSeconds: number;
};

/**
 * Whether this is the first conflict of the id with this body in the idempotency window, whose bytes are to be stored. True
 * also while Redis is unavailable: bytes that are stored twice are better than none.
 */
export async function isFirstConflict(
  cache: Cache,
  { projectId, webhookId, payloadSha256, idempotencyTtlSeconds }: ConflictingBody,
): Promise<boolean> {
  const key = `hqrelay:conflict:{${projectId}}:${payloadSha256}:${webhookId}`;
  const answer = await cache
    .tryCommand((redis) => redis.set(key, '1', 'EX', idempotencyTtlSeconds, 'NX'))
    .catch(() => undefined);
  return answer?.value !== null;
}
