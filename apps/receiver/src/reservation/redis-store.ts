import { setTimeout as wait } from 'node:timers/promises';
import { admit } from '@hqrelay/cache/admission/admit';
import { acceptKeys, releaseKeys, uncount } from '@hqrelay/cache/admission/end-reservation';
import type { Cache } from '@hqrelay/cache/client';
import { needsLookUp, reservationMs, type PriorWebhook } from '@hqrelay/domain/inbound/reservation';
import type { RedisTrust } from './redis-trust.ts';
import type { KeyRequest, ReservationHandle, ReservationStore } from './reservation-store.ts';

const retryMarkAfterMs = 250;

export type RedisStoreDeps = {
  cache: Cache;
  trust: RedisTrust;
  /** Called with each request of a project that is over its rate limit or has used 80 % of it. */
  onNearLimit: (project: { projectId: string; rateLimitPerMinute: number }, now: number) => void;
  findPrior: (request: KeyRequest) => Promise<PriorWebhook | null>;
};

/** Reservations in Redis, under the rate limit. Ids that Redis may have lost are looked up in Postgres. */
export function createRedisStore({ cache, trust, findPrior, onNearLimit }: RedisStoreDeps): ReservationStore {
  return {
    async reserve(request) {
      if (trust.mustReport(request.projectId)) await trust.report(request.projectId);
      const admission = await admit(cache, request);
      const { projectId, rateLimitPerMinute } = request;
      const isNearLimit = admission?.kind === 'rate_limited' || admission?.isNearLimit;
      if (isNearLimit && rateLimitPerMinute !== null)
        onNearLimit({ projectId, rateLimitPerMinute }, Date.now());
      if (admission?.kind !== 'held') return admission;
      const { held, isMine, tookOver, hasOwnRow } = admission;
      const memoryAgeMs = trust.isInDoubt() ? 0 : admission.memoryAgeMs;
      const windowMs = request.idempotencyTtlSeconds * 1_000;
      const prior =
        isMine && needsLookUp({ tookOver, memoryAgeMs, windowMs }) ? await findPrior(request) : null;
      return { kind: 'held', held, isMine, prior, hasOwnRow, handle: handleOf(cache, request, held.id) };
    },
  };
}

function handleOf(cache: Cache, request: KeyRequest, reservedId: string): ReservationHandle {
  return {
    accept(as, stands) {
      const { projectId, webhookId, idempotencyTtlSeconds, contentKeys } = request;
      const key = { projectId, webhookId, idempotencyTtlSeconds, contentKeys, ...as };
      void untilMarked(() => acceptKeys(cache, key, stands));
      if (!stands.id || !stands.content) void untilMarked(() => releaseKeys(cache, request));
      // A duplicate does not count. If this fails, it counts for the rest of its minute.
      if (as.id !== reservedId) void uncount(cache, request).catch(() => undefined);
    },
    release() {
      void untilMarked(() => releaseKeys(cache, request));
    },
  };
}

/**
 * Repeats a mark while Redis is unavailable, for as long as the reservation is valid: until then a retry of the provider
 * would wait for it and get a 503. After that the retry takes the reservation over, under the same id.
 */
async function untilMarked(mark: () => Promise<boolean | undefined>): Promise<void> {
  const giveUpAt = performance.now() + reservationMs;
  // An error that Redis answers is final: it would answer the same again.
  while (!(await mark().catch(() => true)) && performance.now() < giveUpAt) {
    await wait(retryMarkAfterMs, undefined, { ref: false });
  }
}
