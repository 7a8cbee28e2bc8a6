import type { Postgres } from '@hqrelay/db/postgres';
import {
  claimKeys,
  findOwedEndpoints,
  findPriorWebhooks,
  settleKeys,
  type ClaimOutcome,
  type KeyClaim,
  type KeySettlement,
  type PriorWebhook,
} from '@hqrelay/db/queries/idempotency-keys';
import { Batcher } from '@hqrelay/flow/batcher';
import type pg from 'pg';

/** Each is undefined when Postgres is away or does not answer in time. */
export type PostgresClaims = {
  claim: (claim: KeyClaim) => Promise<ClaimOutcome | undefined>;
  findPrior: (claim: KeyClaim) => Promise<PriorWebhook | null | undefined>;
  /** The endpoints that a webhook owes which was accepted before under this id. Never rejects. */
  findOwed: (id: string) => Promise<string[] | null | undefined>;
  /** Never rejects: a claim that is not settled runs out, and the retry takes it over. */
  settle: (settlement: KeySettlement) => Promise<void>;
};

const timeoutMs = 500;

/**
 * What Postgres knows and keeps of ids, for when Redis does not. Requests that come together share their statements: one for
 * each would take up every connection, with all the load of an ordinary minute on a machine that is busy.
 */
export function createPostgresClaims(postgres: Postgres): PostgresClaims {
  const claims = batched<KeyClaim, ClaimOutcome>(postgres, claimKeys);
  const priors = batched<KeyClaim, PriorWebhook | null>(postgres, findPriorWebhooks);
  const owed = batched<string, string[] | null>(postgres, findOwedEndpoints);
  const settlements = batched<KeySettlement, true>(postgres, async (pool, items) => {
    await settleKeys(pool, items);
    return items.map(() => true);
  });
  return {
    claim: (claim) => claims.add(claim),
    findPrior: (claim) => priors.add(claim),
    findOwed: (id) => owed.add(id).catch(() => undefined),
    settle: async (settlement) => void (await settlements.add(settlement).catch(() => {})),
  };
}

function batched<Item, Outcome>(
  postgres: Postgres,
  query: (pool: pg.Pool, items: readonly Item[]) => Promise<readonly Outcome[]>,
): Batcher<Item, Outcome | undefined> {
  return new Batcher({
    itemsMax: 200,
    bytesMax: Number.POSITIVE_INFINITY,
    batchesAtOnce: 2,
    bytesWaitingMax: Number.POSITIVE_INFINITY,
    bytesOf: () => 0,
    run: async (items) => {
      const ask = () => postgres.tryWithin(timeoutMs, (pool) => query(pool, items));
      // Nothing is wrong with what is asked: what Postgres refuses it may take a moment later.
      const answer = await ask().catch(ask);
      return answer?.value ?? items.map(() => undefined);
    },
  });
}
