import type { Postgres } from '@hqrelay/db/postgres';
import { acceptKeys, releaseKeys, reserveKeys } from '@hqrelay/db/queries/idempotency-keys';
import { findPriorWebhooks } from '@hqrelay/db/queries/prior-webhooks';
import { reservationMs, type PriorWebhook } from '@hqrelay/domain/inbound/reservation';
import { batchedQuery } from '../batched-query.ts';
import type { KeyRequest, ReservationStore } from './reservation-store.ts';

export type PostgresStore = ReservationStore & {
  /** What is known of the webhook's id apart from this request; null also when Postgres does not answer. */
  findPrior: (request: KeyRequest) => Promise<PriorWebhook | null>;
};

/** Reservations in Postgres, for the time that Redis is unavailable. The rate limit is open then. */
export function createPostgresStore(postgres: Postgres): PostgresStore {
  const reserve = batchedQuery(postgres, reserveKeys);
  const accept = batchedQuery(postgres, withoutOutcome(acceptKeys));
  const release = batchedQuery(postgres, withoutOutcome(releaseKeys));
  const prior = batchedQuery(postgres, findPriorWebhooks);
  const findPrior = async (request: KeyRequest) => (await prior(queryOf(request))) ?? null;
  return {
    findPrior,
    async reserve(request) {
      const reserved = await reserve(queryOf(request));
      if (!reserved) return undefined;
      return {
        kind: 'held',
        ...reserved,
        // Its own reservation says nothing of what Redis accepted before it became unavailable.
        prior: reserved.isMine ? await findPrior(request) : null,
        recordRow: true,
        handle: {
          accept: (as) => void accept({ ...request, ...as }).catch(() => {}),
          release: () => void release(request).catch(() => {}),
        },
      };
    },
  };
}

function queryOf(request: KeyRequest) {
  return {
    ...request,
    windowSeconds: request.idempotencyTtlSeconds,
    reservationSeconds: reservationMs / 1_000,
  };
}

function withoutOutcome<Pool, Item>(statement: (pool: Pool, items: readonly Item[]) => Promise<void>) {
  return async (pool: Pool, items: readonly Item[]): Promise<undefined[]> => {
    await statement(pool, items);
    return items.map(() => undefined);
  };
}
