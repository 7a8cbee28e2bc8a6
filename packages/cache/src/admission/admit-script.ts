import { reservationMs } from '@hqrelay/domain/inbound/reservation';
import { reservationLua, stateLetters } from '../reservation-value.ts';
import { script } from '../script.ts';

const rateLimitWindowMs = 60_000;
const { reserved, accepted } = stateLetters;

// Requests of one project that follow each other share its keys and its limit.
// KEYS of each project: epoch, origin, then rate limit and repeats where it has a limit; then of each request its id's and its
// content keys. ARGV: the origin; of each project its limit and the number of its requests; then of each request its reservation
// without the time, time to live, number of content keys, their times to live.
// An error of one request, such as a key of another type, is its own answer: the others are admitted all the same.
export const admitScript = script(`${reservationLua}
local origin = ARGV[1]
local nextKey, nextArg = 1, 2
local epochKey, originKey, limitKey, repeatsKey, limit
local idKey, own, ttl, contents
local function takeProject()
  epochKey, originKey, limit = KEYS[nextKey], KEYS[nextKey + 1], tonumber(ARGV[nextArg])
  nextKey, nextArg = nextKey + 2, nextArg + 2
  if limit < 0 then return end
  limitKey, repeatsKey = KEYS[nextKey], KEYS[nextKey + 1]
  nextKey = nextKey + 2
end
local function takeRequest()
  idKey, own, ttl, contents = KEYS[nextKey], ARGV[nextArg], ARGV[nextArg + 1], tonumber(ARGV[nextArg + 2])
  nextKey, nextArg = nextKey + 1, nextArg + 3
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
local nowText = string.format('%.0f', now)
local function admit()
  local age, tookOver, reservation = memoryAge(), 0, own .. nowText
  local value = redis.call('GET', idKey)
  -- As of most webhooks of a busy project; nothing has to be parsed.
  if not value and contents == 0 and limit < 0 then
    redis.call('SET', idKey, reservation, 'EX', ttl)
    return { 'reserved', 0, age, 0 }
  end
  local _, ownId, sha256, token = parse(reservation)
  local id = ownId
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
  for i = 0, contents - 1 do
    local content = redis.call('GET', KEYS[nextKey + i])
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
  if id ~= ownId then reservation = format('${reserved}', id, sha256, token, now) end
  redis.call('SET', idKey, reservation, 'EX', ttl)
  for i = 0, contents - 1 do redis.call('SET', KEYS[nextKey + i], reservation, 'EX', ARGV[nextArg + i]) end
  if id == ownId then return { 'reserved', tookOver, age, nearLimit } end
  return { 'held', '${reserved}', id, sha256, 1, tookOver, 1, age, nearLimit }
end
local answers = {}
while nextArg <= #ARGV do
  local requests = tonumber(ARGV[nextArg + 1])
  takeProject()
  for _ = 1, requests do
    takeRequest()
    local isDone, answer = pcall(admit)
    if not isDone then answer = { 'refused', type(answer) == 'table' and answer.err or tostring(answer) } end
    answers[#answers + 1] = answer
    nextKey, nextArg = nextKey + contents, nextArg + contents
  end
end
return answers`);
