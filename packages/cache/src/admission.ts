import {
  bothKeys,
  reservationMs,
  type KeysOfWebhook,
  type Reservation,
} from '@hqrelay/domain/inbound/reservation';
import type { Redis } from 'ioredis';
import type { Cache } from './client.ts';
import { readOrigin } from './redis-origin.ts';
import { formatReservation, reservationLua, stateLetters, stateOf } from './reservation-value.ts';
import { runScript, script } from './script.ts';

const rateLimitWindowMs = 60_000;
const { reserved, accepted, released } = stateLetters;

export type AdmissionRequest = {
  projectId: string;
  webhookId: string;
  /** The id that the webhook gets when it is new. */
  id: string;
  payloadSha256: string;
  /** Unique to this request, so that a late command of it never changes another request's reservation. */
  token: string;
  /** Null is unlimited. */
  rateLimitPerMinute: number | null;
  idempotencyTtlSeconds: number;
  /** Keys that are reserved with the id's: the same content under another id is a duplicate. */
  contentKeys: readonly ContentKey[];
};

type ContentKey = { name: string; ttlSeconds: number };

export type Admission =
  | {
      kind: 'held';
      /** As `reserve` in the domain left it. */
      held: Pick<Reservation, 'state' | 'id' | 'payloadSha256'>;
      isMine: boolean;
      tookOver: boolean;
      /**
       * Whether a repeated answer gets a row of its own: past ten times the limit in a minute, and at least 1,000, it is thinned.
       * An unlimited project has no such bound.
       */
      hasOwnRow: boolean;
      /** How long Redis has remembered every id of the project, ms. */
      memoryAgeMs: number;
      /** Whether the project has used 80 % of its rate limit. */
      isNearLimit: boolean;
    }
  | { kind: 'rate_limited'; retryAfterMs: number; hasOwnRow: boolean };

const idempotencyKey = (projectId: string, webhookId: string) =>
  `hqrelay:idempotency:{${projectId}}:${webhookId}`;
const rateLimitKey = (projectId: string) => `hqrelay:ratelimit:{${projectId}}`;
const repeatsKey = (projectId: string) => `hqrelay:repeats:{${projectId}}`;
const contentKeyName = (projectId: string, { name }: ContentKey) => `hqrelay:content:{${projectId}}:${name}`;
/** Since when Redis knows every id of the project, ms. */
const epochKey = (projectId: string) => `hqrelay:epoch:{${projectId}}`;
/** The origin of the Redis that the epoch holds for. */
const originKey = (projectId: string) => `hqrelay:origin:{${projectId}}`;

/** Index of the first content key in KEYS of the script; its time to live has the next index in ARGV. */
const firstContentKey = 6;

const admitScript = script(`${reservationLua}
local id, sha256, token, limit, ttl, origin = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local function hasOwnRow()
  if limit < 0 then return 1 end
  local count = redis.call('INCR', KEYS[3])
  if count == 1 then redis.call('PEXPIRE', KEYS[3], ${rateLimitWindowMs}) end
  if count <= math.max(1000, limit * 10) then return 1 end
  return 0
end
local epoch = tonumber(redis.call('GET', KEYS[4]))
if not epoch or origin == '' or redis.call('GET', KEYS[5]) ~= origin then
  epoch = now
  redis.call('SET', KEYS[4], string.format('%.0f', now))
  if origin ~= '' then redis.call('SET', KEYS[5], origin) end
end
local tookOver = 0
local value = redis.call('GET', KEYS[1])
if value then
  local state, heldId, heldSha256, heldToken, at = parse(value)
  if state == '${reserved}' and heldToken == token then
    return { 'held', state, heldId, heldSha256, 1, 0, 1, now - epoch }
  end
  if state == '${accepted}' then return { 'held', state, heldId, heldSha256, 0, 0, hasOwnRow(), now - epoch } end
  if state == '${reserved}' and now - at < ${reservationMs} then
    return { 'held', state, heldId, heldSha256, 0, 0, 1, now - epoch }
  end
  tookOver = 1
  if state and heldSha256 == sha256 then id = heldId end
end
for i = ${firstContentKey}, #KEYS do
  local content = redis.call('GET', KEYS[i])
  if content then
    local state, heldId, _, heldToken, at = parse(content)
    if state == '${accepted}' then return { 'held', state, heldId, sha256, 0, 0, hasOwnRow(), now - epoch } end
    if state == '${reserved}' and heldToken ~= token and now - at < ${reservationMs} then
      return { 'held', state, heldId, sha256, 0, 0, 1, now - epoch }
    end
    tookOver = 1
    if state and id == ARGV[1] then id = heldId end
  end
end
local nearLimit = 0
if limit >= 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${rateLimitWindowMs})
  local count = redis.call('ZCARD', KEYS[2])
  if count >= limit then
    local leaving = redis.call('ZRANGE', KEYS[2], math.max(count - limit, 0), math.max(count - limit, 0), 'WITHSCORES')
    local freeAt = leaving[2] and leaving[2] + ${rateLimitWindowMs} or now + ${rateLimitWindowMs}
    return { 'rate_limited', math.max(freeAt - now, 1), hasOwnRow() }
  end
  redis.call('ZADD', KEYS[2], now, token)
  redis.call('PEXPIRE', KEYS[2], ${rateLimitWindowMs})
  if (count + 1) * 5 >= limit * 4 then nearLimit = 1 end
end
local value = format('${reserved}', id, sha256, token, now)
redis.call('SET', KEYS[1], value, 'EX', ttl)
for i = ${firstContentKey}, #KEYS do redis.call('SET', KEYS[i], value, 'EX', ARGV[i + 1]) end
return { 'held', '${reserved}', id, sha256, 1, tookOver, 1, now - epoch, nearLimit }`);

const releaseScript = script(`${reservationLua}
local token = ARGV[1]
redis.call('ZREM', KEYS[1], token)
for i = 2, #KEYS do
  local state, id, sha256, heldToken = parse(redis.call('GET', KEYS[i]) or '')
  if state == '${reserved}' and heldToken == token then
    redis.call('SET', KEYS[i], format('${released}', id, sha256, '', now), 'KEEPTTL')
  end
end
return 1`);

const distrustScript = script(`${reservationLua}
redis.call('SET', KEYS[1], string.format('%.0f', now))
return 1`);

/** Duplicate check, rate limit and reservation in one round trip, on Redis's clock; undefined when Redis does not decide it in time. */
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
        originKey(projectId),
        ...request.contentKeys.map((contentKey) => contentKeyName(projectId, contentKey)),
      ],
      [
        request.id,
        request.payloadSha256,
        request.token,
        request.rateLimitPerMinute ?? -1,
        request.idempotencyTtlSeconds,
        cache.origin,
        ...request.contentKeys.map(({ ttlSeconds }) => ttlSeconds),
      ],
    ),
  );
  // A Redis that refuses the script counts as unavailable; the cache reports it.
  const answer = await asked.catch(() => undefined);
  return answer && admissionOf(answer.value as [Admission['kind'], ...(string | number)[]]);
}

function admissionOf([kind, ...fields]: [Admission['kind'], ...(string | number)[]]): Admission {
  if (kind === 'rate_limited') {
    return { kind, retryAfterMs: Number(fields[0]), hasOwnRow: fields[1] === 1 };
  }
  const [letter, id, payloadSha256, isMine, tookOver, hasOwnRow, memoryAgeMs, nearLimit] = fields;
  return {
    kind,
    held: { state: stateOf(String(letter)), id: String(id), payloadSha256: String(payloadSha256) },
    isMine: isMine === 1,
    tookOver: tookOver === 1,
    hasOwnRow: hasOwnRow === 1,
    memoryAgeMs: Number(memoryAgeMs),
    isNearLimit: nearLimit === 1,
  };
}

export type AcceptedKey = Pick<
  AdmissionRequest,
  'projectId' | 'webhookId' | 'id' | 'payloadSha256' | 'idempotencyTtlSeconds' | 'contentKeys'
>;

/** Accepts the keys that stand for the webhook, each for its window. False when Redis is unavailable. */
export async function acceptKeys(
  cache: Cache,
  key: AcceptedKey,
  stands: KeysOfWebhook = bothKeys,
): Promise<boolean> {
  const value = formatReservation({ ...key, state: 'accepted', token: '', at: Date.now() });
  const { projectId } = key;
  const answer = await cache.tryCommand((redis) =>
    Promise.all([
      stands.id &&
        redis.set(idempotencyKey(projectId, key.webhookId), value, 'EX', key.idempotencyTtlSeconds),
      ...(stands.content ? key.contentKeys : []).map((contentKey) =>
        redis.set(contentKeyName(projectId, contentKey), value, 'EX', contentKey.ttlSeconds),
      ),
    ]),
  );
  return answer !== undefined;
}

/** Releases what this request has reserved, and its place under the rate limit. False when Redis is unavailable. */
export async function releaseKeys(
  cache: Cache,
  {
    projectId,
    webhookId,
    token,
    contentKeys,
  }: Pick<AdmissionRequest, 'projectId' | 'webhookId' | 'token' | 'contentKeys'>,
): Promise<boolean> {
  const keys = [
    rateLimitKey(projectId),
    idempotencyKey(projectId, webhookId),
    ...contentKeys.map((contentKey) => contentKeyName(projectId, contentKey)),
  ];
  const answer = await cache.tryCommand((redis) => runScript(redis, releaseScript, keys, [token]));
  return answer !== undefined;
}

/** Gives back the place under the rate limit of a request that turned out to be a duplicate. */
export async function uncount(
  cache: Cache,
  { projectId, token }: Pick<AdmissionRequest, 'projectId' | 'token'>,
): Promise<void> {
  await cache.tryCommand((redis) => redis.zrem(rateLimitKey(projectId), token));
}

/**
 * Records that this Redis knows every id of a new project. Call it when the project is created: without it, ids that Redis
 * does not know are looked up in Postgres for one idempotency window.
 */
export async function trustMemory(redis: Redis, projectId: string): Promise<void> {
  await redis.set(originKey(projectId), await readOrigin(redis), 'NX');
  await redis.set(epochKey(projectId), '0', 'NX');
}

/**
 * Ids of the project were accepted without this Redis: for one window, those it does not know are looked up in Postgres.
 * Throws when Redis does not run the command in time; it may run later.
 */
export async function distrustMemory(redis: Redis, projectId: string): Promise<void> {
  await runScript(redis, distrustScript, [epochKey(projectId)], []);
}
