import { reservationMs } from '@hqrelay/domain/inbound/reservation';
import { reservationLua, stateLetters } from '../reservation-value.ts';
import { script } from '../script.ts';

const rateLimitWindowMs = 60_000;
const { reserved, accepted } = stateLetters;

// KEYS of each request: its id's, epoch, origin, then rate limit and repeats where it has a limit, then its content keys.
// ARGV: the origin, then of each request id, SHA-256, token, time to live, limit, number of content keys, their times to live.
// An error of one request, such as a key of another type, is its own answer: the others are admitted all the same.
export const admitScript = script(`${reservationLua}
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
