import { setTimeout as wait } from 'node:timers/promises';
import type { Cache } from '@hqrelay/cache/client';
import type { Postgres } from '@hqrelay/db/postgres';
import { newId } from '@hqrelay/domain/ids';
import { decide, keysOfWebhook } from '@hqrelay/domain/inbound/reservation';
import type { RedisTrust } from './redis-trust.ts';
import type { KeyRequest, ReservationStore, StoreAnswer } from './reservation-store.ts';

export type ReserveDeps = {
  redisStore: ReservationStore;
  postgresStore: ReservationStore;
  trust: RedisTrust;
  cache: Pick<Cache, 'health'>;
  postgres: Pick<Postgres, 'health'>;
};

/** This request makes the webhook durable under `id`, and then calls `accept` or `release`. */
export type Admitted = {
  kind: 'admitted';
  id: string;
  /** An earlier request may have published the webhook under this id. */
  mayBeDuplicate: boolean;
  /** The webhook was accepted before: the answer says so. */
  isReplay: boolean;
  accept: () => void;
  release: () => void;
};

export type ReserveResult =
  | Admitted
  | { kind: 'duplicate'; id: string; hasOwnRow: boolean }
  | { kind: 'conflict'; id: string; hasOwnRow: boolean }
  | { kind: 'rate_limited'; retryAfterMs: number; hasOwnRow: boolean }
  /** An earlier request for this webhook is still in progress. */
  | { kind: 'undecided'; id: string };

const firstPollMs = 15;
const longestPollMs = 120;
/** How long a duplicate waits for the outcome of the first request. */
const waitForOutcomeMs = 1_200;
const waitForRedisMs = 600;

/**
 * Step 4: reserves the webhook's keys. A duplicate waits for the outcome of the first request: a 202 would lose the webhook
 * if that request then failed.
 */
export async function reserve(deps: ReserveDeps, request: Omit<KeyRequest, 'token'>): Promise<ReserveResult> {
  const giveUpAt = performance.now() + waitForOutcomeMs;
  let { id } = request;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
    // A release from the iteration before may run late: a new token protects this iteration's reservation.
    const asked = withToken(request, id, newId(Date.now()));
    const answer = (await deps.redisStore.reserve(asked)) ?? (await reserveWithoutRedis(deps, asked));
    if (answer.kind === 'rate_limited') return answer;
    const { handle, hasOwnRow } = answer;
    const decision = decide(request, answer, answer.prior);
    const stands = keysOfWebhook(request, decision, answer.prior);
    if (decision.own === 'accept') handle.accept(decision, stands);
    if (decision.own === 'release') handle.release();
    if (decision.kind === 'admit') {
      return {
        kind: 'admitted',
        id: decision.id,
        mayBeDuplicate: decision.id !== request.id,
        isReplay: decision.isReplay,
        accept: () => handle.accept(decision, stands),
        release: handle.release,
      };
    }
    if (decision.kind !== 'wait') return { kind: decision.kind, id: decision.id, hasOwnRow };
    if (decision.keepsId) id = decision.id;
    if (performance.now() + pollMs > giveUpAt) return { kind: 'undecided', id: decision.id };
    await wait(pollMs);
  }
}

/** Every field is named: V8 builds an object from a spread many times slower. */
function withToken(
  {
    projectId,
    webhookId,
    payloadSha256,
    rateLimitPerMinute,
    idempotencyTtlSeconds,
    onConflict,
    contentKeys,
  }: Omit<KeyRequest, 'token'>,
  id: string,
  token: string,
): KeyRequest {
  return {
    projectId,
    webhookId,
    id,
    payloadSha256,
    token,
    rateLimitPerMinute,
    idempotencyTtlSeconds,
    onConflict,
    contentKeys,
  };
}

async function reserveWithoutRedis(deps: ReserveDeps, request: KeyRequest): Promise<StoreAnswer> {
  const answer = await waitForRedis(deps, request);
  if (answer) return answer;
  deps.trust.servedWithout(request.projectId);
  return (await deps.postgresStore.reserve(request)) ?? unguarded(request);
}

/** While Postgres is unavailable, nothing but Redis knows which ids were accepted: a slow Redis is worth a longer wait. */
async function waitForRedis(deps: ReserveDeps, request: KeyRequest): Promise<StoreAnswer | undefined> {
  const giveUpAt = performance.now() + waitForRedisMs;
  while (!deps.postgres.health.isUp && deps.cache.health.state !== 'down' && performance.now() < giveUpAt) {
    await wait(longestPollMs);
    const answer = await deps.redisStore.reserve(request);
    if (answer) return answer;
  }
  return undefined;
}

/** With neither store, RabbitMQ alone makes the webhook durable, and a duplicate is not recognised. */
function unguarded({ id, payloadSha256 }: KeyRequest): StoreAnswer {
  return {
    kind: 'held',
    held: { state: 'reserved', id, payloadSha256 },
    isMine: true,
    prior: null,
    hasOwnRow: true,
    handle: { accept: () => {}, release: () => {} },
  };
}
