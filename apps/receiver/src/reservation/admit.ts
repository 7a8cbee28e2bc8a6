import { admit, replaceReservation, reservationMs, type Admission } from '@hqrelay/cache/admission';
import type { Cache } from '@hqrelay/cache/client';
import type { Postgres } from '@hqrelay/db/postgres';
import type { KeyClaim, PriorWebhook } from '@hqrelay/db/queries/idempotency-keys';
import { newId } from '@hqrelay/domain/ids';
import { idFor, type VerifiedWebhook } from '../ingest/inbound-request.ts';
import type { PostgresClaims } from './postgres-claims.ts';
import type { RedisMemory } from './redis-memory.ts';
import { settleInRedis } from './settle-in-redis.ts';

export type AdmitDeps = {
  cache: Cache;
  postgres: Postgres;
  postgresClaims: PostgresClaims;
  redisMemory: RedisMemory;
};

/** A webhook that this request may make durable, under `id`. */
export type Admitted = {
  kind: 'admitted';
  id: string;
  /** An earlier request may have published it under the same id. */
  copy: boolean;
  /** It was accepted before: the answer says so. */
  known: boolean;
  /** Says how it ended. The answer does not wait for it. */
  settle: (end: 'seen' | 'failed') => void;
};

export type AdmitOutcome =
  | Admitted
  | { kind: 'seen'; id: string; sameBody: boolean; logRow: boolean }
  | { kind: 'rate_limited'; retryAfterMs: number; logRow: boolean }
  | { kind: 'undecided'; id: string };

const firstPollMs = 15;
const longestPollMs = 120;
/** How long a duplicate waits for the first request's outcome. */
const waitForOutcomeMs = 1_200;
const waitForRedisMs = 600;

/**
 * Seen before, over the rate limit, or ours to make durable. A duplicate of a request that is still under way waits for
 * its outcome: to be told 202 while the first may still fail would lose the webhook.
 */
export async function admitWebhook(deps: AdmitDeps, webhook: VerifiedWebhook): Promise<AdmitOutcome> {
  const claim = {
    projectId: webhook.project.id,
    webhookId: webhook.webhookId,
    id: idFor(webhook.request),
    payloadSha256: webhook.payloadSha256,
    token: newId(),
    rateLimitPerMinute: webhook.project.rateLimitPerMinute,
    idempotencyTtlSeconds: webhook.project.idempotencyTtlSeconds,
  };
  const giveUpAt = performance.now() + waitForOutcomeMs;
  let isCopy = false;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
    const outcome =
      (await admitByRedis(deps, webhook, claim)) ??
      (await admitByRedisAlone(deps, webhook, claim)) ??
      (await admitByPostgres(deps, webhook, claim));
    if (outcome.kind === 'admitted') return { ...outcome, copy: outcome.copy || isCopy };
    if (outcome.kind !== 'pending') return outcome;
    // From here on it has that id, also when the store that knew of it is gone by the next time.
    if (outcome.sameBody) {
      claim.id = outcome.id;
      isCopy = true;
    }
    if (performance.now() + pollMs > giveUpAt) return { kind: 'undecided', id: outcome.id };
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

type Claim = Parameters<typeof admit>[1];

type Pending = Extract<Admission, { kind: 'pending' }>;

async function admitByRedis(
  deps: AdmitDeps,
  webhook: VerifiedWebhook,
  claim: Claim,
): Promise<AdmitOutcome | Pending | undefined> {
  await deps.redisMemory.settled(claim.projectId);
  const admission = await admit(deps.cache, claim);
  if (admission?.kind !== 'admitted') return admission;
  const settleAs = (id: string, payloadSha256: string) => (end: 'seen' | 'failed') =>
    void settleInRedis(deps.cache, { ...claim, id, payloadSha256 }, end);
  const { id, takenOver } = admission;
  const windowMs = claim.idempotencyTtlSeconds * 1_000;
  const forgetful = deps.redisMemory.mayLack({ redisAgeMs: admission.redisAgeMs, windowMs });
  // Asked of one that is taken over too: who left it behind may have had no Postgres to ask.
  const prior = forgetful ? await findPrior(deps, claim) : null;
  if (prior?.state === 'pending') {
    settleAs(id, claim.payloadSha256)('failed');
    return { kind: 'pending', id: prior.id, sameBody: prior.payloadSha256 === claim.payloadSha256 };
  }
  if (!prior || prior.id === id) {
    return { kind: 'admitted', id, copy: takenOver, known: false, settle: settleAs(id, claim.payloadSha256) };
  }
  // The reservation made just now stands under another id; what Postgres knows takes its place. Settled only then: a
  // script that Redis has to be given first would arrive behind the one that settles.
  const known = { ...claim, id: prior.id, payloadSha256: prior.payloadSha256 };
  const replaced = replaceReservation(deps.cache, known).catch(() => {});
  const settle = settleAs(known.id, known.payloadSha256);
  return fromPrior(prior, webhook, (end) => void replaced.then(() => settle(end)));
}

/** With Postgres away, nobody but Redis knows what was seen: one that is only slow is worth a moment more. */
async function admitByRedisAlone(
  deps: AdmitDeps,
  webhook: VerifiedWebhook,
  claim: Claim,
): Promise<AdmitOutcome | Pending | undefined> {
  const giveUpAt = performance.now() + waitForRedisMs;
  while (!deps.postgres.health.isUp && deps.cache.health.state !== 'down' && performance.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, longestPollMs));
    const outcome = await admitByRedis(deps, webhook, claim);
    if (outcome) return outcome;
  }
  return undefined;
}

/** Redis is away: the rate limit is open, and Postgres knows which ids were seen. Without either, nothing is held back. */
async function admitByPostgres(
  deps: AdmitDeps,
  webhook: VerifiedWebhook,
  claim: Claim,
): Promise<AdmitOutcome | Pending> {
  deps.redisMemory.missed(claim.projectId);
  const claimed = await deps.postgresClaims.claim(keyOf(claim));
  if (!claimed) return { kind: 'admitted', id: claim.id, copy: false, known: false, settle: () => {} };
  if (claimed.kind === 'seen') return { ...claimed, logRow: true };
  if (claimed.kind === 'pending') return claimed;
  const settleAs = (id: string, payloadSha256: string) => (end: 'seen' | 'failed') =>
    void deps.postgresClaims.settle({
      ...claim,
      id,
      payloadSha256,
      state: end === 'seen' ? 'seen' : 'retryable',
    });
  const { id, takenOver } = claimed;
  const prior = await findPrior(deps, claim);
  if (prior && prior.id !== id) {
    return fromPrior(prior, webhook, settleAs(prior.id, prior.payloadSha256));
  }
  return { kind: 'admitted', id, copy: takenOver, known: false, settle: settleAs(id, claim.payloadSha256) };
}

/** The claim as Postgres knows it. */
function keyOf(claim: Claim): KeyClaim {
  return {
    ...claim,
    windowSeconds: claim.idempotencyTtlSeconds,
    reservationSeconds: reservationMs / 1_000,
  };
}

async function findPrior({ postgresClaims }: AdmitDeps, claim: Claim): Promise<PriorWebhook | null> {
  const prior = (await postgresClaims.findPrior(keyOf(claim))) ?? null;
  // Nobody has accepted that: other bytes are another webhook.
  return prior?.state === 'failed' && prior.payloadSha256 !== claim.payloadSha256 ? null : prior;
}

/**
 * What Postgres knows of a webhook that Redis does not. One that shows no sign of life may never have been published, so
 * it is made durable again under its id, which the worker tells from a second life; the sender hears that it is known.
 */
function fromPrior(
  prior: PriorWebhook,
  { project, payloadSha256 }: VerifiedWebhook,
  settle: Admitted['settle'],
): AdmitOutcome {
  const { id, state } = prior;
  const sameBody = prior.payloadSha256 === payloadSha256;
  // Bytes that differ only in their form stand for the first ones, which nobody may have.
  const standsForIt = !sameBody && project.onConflict === 'duplicate';
  if (standsForIt && state !== 'alive') {
    settle('failed');
    return { kind: 'undecided', id };
  }
  if (state === 'alive' || !sameBody) {
    settle('seen');
    return { kind: 'seen', id, sameBody, logRow: true };
  }
  return { kind: 'admitted', id, copy: true, known: state === 'unknown', settle };
}
