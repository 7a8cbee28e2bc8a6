import type { Redis } from 'ioredis';
import type { Cache } from './client.ts';
import { runScript, script } from './script.ts';

const rateLimitWindowMs = 60_000;
/** How long a reservation stands for a request that never came to an end. */
export const reservationMs = 10_000;

export type AdmissionRequest = {
  projectId: string;
  webhookId: string;
  /** The id this webhook gets when it is new. */
  id: string;
  payloadSha256: string;
  /** Of this request alone: a command that ran late must not pass for another request's. */
  token: string;
  /** Null is unlimited. */
  rateLimitPerMinute: number | null;
  idempotencyTtlSeconds: number;
};

export type Admission =
  /** Reserved for this request. `takenOver`: under the id of an earlier request that came to no good end. */
  | { kind: 'admitted'; id: string; takenOver: boolean; redisAgeMs: number }
  | { kind: 'seen'; id: string; sameBody: boolean; logRow: boolean }
  /** Another request has reserved it and is not done. */
  | { kind: 'pending'; id: string; sameBody: boolean }
  | { kind: 'rate_limited'; retryAfterMs: number; logRow: boolean };

const idempotencyKey = (projectId: string, webhookId: string) =>
  `hqrelay:idempotency:{${projectId}}:${webhookId}`;
const rateLimitKey = (projectId: string) => `hqrelay:ratelimit:{${projectId}}`;
const repeatsKey = (projectId: string) => `hqrelay:repeats:{${projectId}}`;
const epochKey = (projectId: string) => `hqrelay:epoch:{${projectId}}`;

// The value under an idempotency key: state | our id | SHA-256 of the body | token | ms.
// States: P reserved, S seen (it was made durable), F failed (nothing could take it; the next request takes over the id).
const parseValue = `
local function parse(value)
  local state, id, sha256, token, at = string.match(value, '^(%a)|([^|]*)|([^|]*)|([^|]*)|(%d+)$')
  return state, id, sha256, token, tonumber(at)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

const admitScript = script(`${parseValue}
local id, sha256, token, limit, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
-- An answer that repeats or refuses has a window of its own, past which only each hundredth gets a row.
local function logRow()
  local count = redis.call('INCR', KEYS[3])
  if count == 1 then redis.call('PEXPIRE', KEYS[3], ${rateLimitWindowMs}) end
  if count <= math.max(1000, limit * 10) or count % 100 == 0 then return 1 end
  return 0
end
local epoch = tonumber(redis.call('GET', KEYS[4]))
if not epoch then
  epoch = now
  redis.call('SET', KEYS[4], string.format('%.0f', now))
end
local takenOver = 0
local value = redis.call('GET', KEYS[1])
if value then
  local state, heldId, heldSha256, heldToken, at = parse(value)
  local same = heldSha256 == sha256 and 1 or 0
  -- This very request, whose command ran after it had been given up.
  if state == 'P' and heldToken == token then return { 'admitted', heldId, 0, now - epoch } end
  if state == 'S' then return { 'seen', heldId, same, logRow() } end
  if state == 'P' and now - at < ${reservationMs} then return { 'pending', heldId, same } end
  if state and same == 1 then
    id = heldId
    takenOver = 1
  end
end
if limit >= 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${rateLimitWindowMs})
  local count = redis.call('ZCARD', KEYS[2])
  if count >= limit then
    local leaving = redis.call('ZRANGE', KEYS[2], math.max(count - limit, 0), math.max(count - limit, 0), 'WITHSCORES')
    local freeAt = leaving[2] and leaving[2] + ${rateLimitWindowMs} or now + ${rateLimitWindowMs}
    return { 'rate_limited', math.max(freeAt - now, 1), logRow() }
  end
  redis.call('ZADD', KEYS[2], now, token)
  redis.call('PEXPIRE', KEYS[2], ${rateLimitWindowMs})
end
redis.call('SET', KEYS[1], table.concat({ 'P', id, sha256, token, string.format('%.0f', now) }, '|'), 'EX', ttl)
return { 'admitted', id, takenOver, now - epoch }`);

const markSeenScript = script(`${parseValue}
local id, sha256, ttl = ARGV[1], ARGV[2], ARGV[3]
local value = redis.call('GET', KEYS[1])
if value then
  local state, heldId = parse(value)
  if state and heldId ~= id then return 0 end
end
redis.call('SET', KEYS[1], table.concat({ 'S', id, sha256, '', string.format('%.0f', now) }, '|'), 'EX', ttl)
return 1`);

const replaceScript = script(`${parseValue}
local id, sha256, token, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
redis.call('ZREM', KEYS[2], token)
local value = redis.call('GET', KEYS[1])
local _, _, _, heldToken = parse(value or '')
if heldToken ~= token then return 0 end
redis.call('SET', KEYS[1], table.concat({ 'P', id, sha256, token, string.format('%.0f', now) }, '|'), 'EX', ttl)
return 1`);

const markFailedScript = script(`${parseValue}
local token = ARGV[1]
redis.call('ZREM', KEYS[2], token)
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
local state, id, sha256, heldToken = parse(value)
if state ~= 'P' or heldToken ~= token then return 0 end
redis.call('SET', KEYS[1], table.concat({ 'F', id, sha256, '', string.format('%.0f', now) }, '|'), 'KEEPTTL')
return 1`);

const distrustScript = script(`${parseValue}
redis.call('SET', KEYS[1], string.format('%.0f', now))
return 1`);

/** Dedup, rate limit and reservation in one round trip, on Redis's own clock; undefined when Redis does not decide it in time. */
export async function admit(cache: Cache, request: AdmissionRequest): Promise<Admission | undefined> {
  const { projectId } = request;
  const asked = cache.tryCommand((redis) =>
    runScript(
      redis,
      admitScript,
      [
        idempotencyKey(projectId, request.webhookId),
        rateLimitKey(projectId),
        repeatsKey(projectId),
        epochKey(projectId),
      ],
      [
        request.id,
        request.payloadSha256,
        request.token,
        request.rateLimitPerMinute ?? -1,
        request.idempotencyTtlSeconds,
      ],
    ),
  );
  // A Redis that refuses the script counts as unavailable; the cache reports it.
  const answer = await asked.catch(() => undefined);
  if (!answer) return undefined;
  const [kind, ...rest] = answer.value as [Admission['kind'], ...unknown[]];
  switch (kind) {
    case 'admitted':
      return { kind, id: String(rest[0]), takenOver: rest[1] === 1, redisAgeMs: Number(rest[2]) };
    case 'seen':
      return { kind, id: String(rest[0]), sameBody: rest[1] === 1, logRow: rest[2] === 1 };
    case 'pending':
      return { kind, id: String(rest[0]), sameBody: rest[1] === 1 };
    case 'rate_limited':
      return { kind, retryAfterMs: Number(rest[0]), logRow: rest[1] === 1 };
  }
}

type Claim = Pick<
  AdmissionRequest,
  'projectId' | 'webhookId' | 'id' | 'payloadSha256' | 'idempotencyTtlSeconds'
>;

/** After the webhook was made durable: from now on the same id is a duplicate. False when Redis is away. */
export async function markSeen(cache: Cache, claim: Claim): Promise<boolean> {
  const told = await cache.tryCommand((redis) =>
    runScript(
      redis,
      markSeenScript,
      [idempotencyKey(claim.projectId, claim.webhookId)],
      [claim.id, claim.payloadSha256, claim.idempotencyTtlSeconds],
    ),
  );
  return told !== undefined;
}

/** Puts this request's reservation under the id and the body that Postgres knows the webhook by; it does not count twice. */
export async function replaceReservation(cache: Cache, claim: Claim & { token: string }): Promise<void> {
  await cache.tryCommand((redis) =>
    runScript(
      redis,
      replaceScript,
      [idempotencyKey(claim.projectId, claim.webhookId), rateLimitKey(claim.projectId)],
      [claim.id, claim.payloadSha256, claim.token, claim.idempotencyTtlSeconds],
    ),
  );
}

/** After nothing could take the webhook: its retry takes the id over and is not counted twice. False when Redis is away. */
export async function markFailed(
  cache: Cache,
  claim: Pick<AdmissionRequest, 'projectId' | 'webhookId' | 'token'>,
): Promise<boolean> {
  const told = await cache.tryCommand((redis) =>
    runScript(
      redis,
      markFailedScript,
      [idempotencyKey(claim.projectId, claim.webhookId), rateLimitKey(claim.projectId)],
      [claim.token],
    ),
  );
  return told !== undefined;
}

/**
 * Tells a Redis that has known the project from its first day from one that has forgotten: to be called when the project
 * is made. Without it, ids that Redis does not know are looked up in Postgres for one idempotency window.
 */
export async function rememberFromBirth(redis: Redis, projectId: string): Promise<void> {
  await redis.set(epochKey(projectId), '0', 'NX');
}

/** Ids were accepted that this Redis was not told of: for one window, those it does not know are looked up in Postgres. */
export async function distrustMemory(cache: Cache, projectId: string): Promise<boolean> {
  const answer = await cache.tryCommand((redis) =>
    runScript(redis, distrustScript, [epochKey(projectId)], []),
  );
  return answer !== undefined;
}
