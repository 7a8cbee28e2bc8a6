import type { Postgres } from '@hqrelay/db/postgres';
import {
  acceptKeys,
  releaseKeys,
  reserveKeys,
  type KeyRequest as DbKeyRequest,
  type KeyReservation,
} from '@hqrelay/db/queries/idempotency-keys';
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
  const findPrior = async (request: KeyRequest) => {
    const found = await Promise.all(keysOf(request).map((key) => prior(key)));
    return found.find((each) => each) ?? null;
  };
  /** The id's key first, so that plain duplicates never wait for each other. */
  const reserveBoth = async (request: KeyRequest): Promise<KeyReservation | undefined> => {
    const [idKey, contentKey] = keysOf(request);
    const byId = await reserve(idKey);
    if (!byId?.isMine || !contentKey) return byId;
    const byContent = await reserve(contentKey);
    if (!byContent) return byId;
    if (byContent.isMine) {
      return { ...byId, held: byId.held.id === request.id ? byContent.held : byId.held };
    }
    await release(idKey).catch(() => {});
    return byContent;
  };
  return {
    findPrior,
    async reserve(request) {
      const reserved = await reserveBoth(request);
      if (!reserved) return undefined;
      return {
        kind: 'held',
        ...reserved,
        // Its own reservation says nothing of what Redis accepted before it became unavailable.
        prior: reserved.isMine ? await findPrior(request) : null,
        recordRow: true,
        handle: {
          accept(as) {
            for (const key of keysOf(request)) void accept({ ...key, ...as }).catch(() => {});
          },
          release() {
            for (const key of keysOf(request)) void release(key).catch(() => {});
          },
        },
      };
    },
  };
}

/** The request's keys: its webhook id's, and its content's under a name that no webhook id can have. */
function keysOf(request: KeyRequest): [DbKeyRequest, ...DbKeyRequest[]] {
  const { contentKey, idempotencyTtlSeconds } = request;
  const reservationSeconds = reservationMs / 1_000;
  const idKey = { ...request, windowSeconds: idempotencyTtlSeconds, reservationSeconds };
  if (!contentKey) return [idKey];
  return [idKey, { ...idKey, webhookId: `\u0001${contentKey.name}`, windowSeconds: contentKey.ttlSeconds }];
}

function withoutOutcome<Pool, Item>(statement: (pool: Pool, items: readonly Item[]) => Promise<void>) {
  return async (pool: Pool, items: readonly Item[]): Promise<undefined[]> => {
    await statement(pool, items);
    return items.map(() => undefined);
  };
}
