import { reservationMs, type Reservation } from '@hqrelay/domain/inbound/reservation';
import type { Cache } from '../client.ts';
import { onceATurn } from '../once-a-turn.ts';
import { reservationLua, stateLetters, stateOf } from '../reservation-value.ts';
import { runScriptNow, script } from '../script.ts';
import {
  contentKeyName,
  epochKey,
  idempotencyKey,
  originKey,
  rateLimitKey,
  repeatsKey,
  type ContentKey,
} from './reservation-keys.ts';

const rateLimitWindowMs = 60_000;
const { reserved, accepted } = stateLetters;

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
  contentKeys: readonly ContentKey[];
};

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

// KEYS of each request: its id's, epoch, origin, then rate limit and repeats where it has a limit, then its content keys.
// ARGV: the origin, then of each request id, SHA-256, token, time to live, limit, number of content keys, their times to live.
// An error of one request, such as a key of another type, is its own answer: the others are admitted all the same.
const admitScript = script(`${reservationLua}
local origin = ARGV[1]
local nextKey, nextArg = 0, 1
local idKey, epochKey, originKey, limitKey, repeatsKey
local ownId, sha256, token, ttl, limit, contents
local function take()
  idKey, epochKey, originKey = KEYS[nextKey + 1], KEYS[nextKey + 2], KEYS[nextKey + 3]
  ownId, sha256, token, ttl = ARGV[nextArg + 1], ARGV[nextArg + 2], ARGV[nextArg + 3], ARGV[nextArg + 4]
  limit, contents = tonumber(ARGV[nextArg + 5]), tonumber(ARGV[nextArg + 6])
  nextKey, nextArg = nextKey + 3, nextArg + 6
  if limit < 0 then return end
  limitKey, repeatsKey = KEYS[nextKey + 1], KEYS[nextKey + 2]
  nextKey = nextKey + 2
end
local function hasOwnRow()
  if limit < 0 then return 1 end
  local count = redis.call('INCR', repeatsKey)
  if count == 1 then redis.call('PEXPIRE', repeatsKey, ${rateLimitWindowMs}) end
  if count <= math.max(1000, limit * 10) then return 1 end
  return 0
end
local ages = {}
local function memoryAge()
  local age = ages[epochKey]
  if age then return age end
  local epoch = tonumber(redis.call('GET', epochKey))
  if not epoch or origin == '' or redis.call('GET', originKey) ~= origin then
    epoch = now
    redis.call('SET', epochKey, string.format('%.0f', now))
    if origin ~= '' then redis.call('SET', originKey, origin) end
  end
  ages[epochKey] = now - epoch
  return now - epoch
end
local function admit()
  local age, tookOver, id = memoryAge(), 0, ownId
  local value = redis.call('GET', idKey)
  if value then
    local state, heldId, heldSha256, heldToken, at = parse(value)
    if state == '${reserved}' and heldToken == token then
      return { 'held', state, heldId, heldSha256, 1, 0, 1, age }
    end
    if state == '${accepted}' then return { 'held', state, heldId, heldSha256, 0, 0, hasOwnRow(), age } end
    if state == '${reserved}' and now - at < ${reservationMs} then
      return { 'held', state, heldId, heldSha256, 0, 0, 1, age }
    end
    tookOver = 1
    if state and heldSha256 == sha256 then id = heldId end
  end
  for i = nextKey + 1, nextKey + contents do
    local content = redis.call('GET', KEYS[i])
    if content then
      local state, heldId, _, heldToken, at = parse(content)
      if state == '${accepted}' then return { 'held', state, heldId, sha256, 0, 0, hasOwnRow(), age } end
      if state == '${reserved}' and heldToken ~= token and now - at < ${reservationMs} then
        return { 'held', state, heldId, sha256, 0, 0, 1, age }
      end
      tookOver = 1
      if state and id == ownId then id = heldId end
    end
  end
  local nearLimit = 0
  if limit >= 0 then
    redis.call('ZREMRANGEBYSCORE', limitKey, '-inf', now - ${rateLimitWindowMs})
    local count = redis.call('ZCARD', limitKey)
    if count >= limit then
      local leaving = redis.call('ZRANGE', limitKey, math.max(count - limit, 0), math.max(count - limit, 0), 'WITHSCORES')
      local freeAt = leaving[2] and leaving[2] + ${rateLimitWindowMs} or now + ${rateLimitWindowMs}
      return { 'rate_limited', math.max(freeAt - now, 1), hasOwnRow() }
    end
    redis.call('ZADD', limitKey, now, token)
    redis.call('PEXPIRE', limitKey, ${rateLimitWindowMs})
    if (count + 1) * 5 >= limit * 4 then nearLimit = 1 end
  end
  local reservation = format('${reserved}', id, sha256, token, now)
  redis.call('SET', idKey, reservation, 'EX', ttl)
  for i = 1, contents do redis.call('SET', KEYS[nextKey + i], reservation, 'EX', ARGV[nextArg + i]) end
  if id == ownId then return { 'reserved', tookOver, age, nearLimit } end
  return { 'held', '${reserved}', id, sha256, 1, tookOver, 1, age, nearLimit }
end
local answers = {}
while nextArg < #ARGV do
  take()
  local isDone, answer = pcall(admit)
  if not isDone then answer = { 'refused', type(answer) == 'table' and answer.err or tostring(answer) } end
  answers[#answers + 1] = answer
  nextKey, nextArg = nextKey + contents, nextArg + contents
end
return answers`);

type Answer = [kind: 'reserved' | 'held' | 'rate_limited' | 'refused', ...(string | number)[]];

/**
 * Duplicate check, rate limit and reservation in one round trip, on Redis's clock; undefined when Redis does not decide it in
 * time. The requests of one turn share the round trip.
 */
export async function admit(cache: Cache, request: AdmissionRequest): Promise<Admission | undefined> {
  // A Redis that refuses the script counts as unavailable; the cache reports it.
  const answer = await admitOnceATurn(cache, request).catch(() => undefined);
  if (!answer) return undefined;
  if (answer[0] !== 'refused') return admissionOf(request, answer);
  await cache.handleRefusal(String(answer[1]));
  return undefined;
}

const admitOnceATurn = onceATurn(async (cache, requests: readonly AdmissionRequest[]) => {
  const keys: string[] = [];
  const args: (string | number)[] = [cache.origin];
  for (const request of requests) append(request, keys, args);
  const answer = await cache.tryCommand((redis) => runScriptNow(redis, admitScript, keys, args));
  return answer ? (answer.value as Answer[]) : [];
});

function append(request: AdmissionRequest, keys: string[], args: (string | number)[]): void {
  const { projectId, rateLimitPerMinute, contentKeys } = request;
  keys.push(idempotencyKey(projectId, request.webhookId), epochKey(projectId), originKey(projectId));
  if (rateLimitPerMinute !== null) keys.push(rateLimitKey(projectId), repeatsKey(projectId));
  args.push(request.id, request.payloadSha256, request.token, request.idempotencyTtlSeconds);
  args.push(rateLimitPerMinute ?? -1, contentKeys.length);
  for (const contentKey of contentKeys) {
    keys.push(contentKeyName(projectId, contentKey));
    args.push(contentKey.ttlSeconds);
  }
}

function admissionOf(request: AdmissionRequest, [kind, ...fields]: Answer): Admission {
  if (kind === 'rate_limited') {
    return { kind, retryAfterMs: Number(fields[0]), hasOwnRow: fields[1] === 1 };
  }
  if (kind === 'reserved') {
    const { id, payloadSha256 } = request;
    return {
      kind: 'held',
      held: { state: 'reserved', id, payloadSha256 },
      isMine: true,
      tookOver: fields[0] === 1,
      hasOwnRow: true,
      memoryAgeMs: Number(fields[1]),
      isNearLimit: fields[2] === 1,
    };
  }
  const [letter, id, payloadSha256, isMine, tookOver, hasOwnRow, memoryAgeMs, nearLimit] = fields;
  return {
    kind: 'held',
    held: { state: stateOf(String(letter)), id: String(id), payloadSha256: String(payloadSha256) },
    isMine: isMine === 1,
    tookOver: tookOver === 1,
    hasOwnRow: hasOwnRow === 1,
    memoryAgeMs: Number(memoryAgeMs),
    isNearLimit: nearLimit === 1,
  };
}
