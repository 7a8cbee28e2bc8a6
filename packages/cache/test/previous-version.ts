import type { Redis } from 'ioredis';

// The scripts of an earlier version, whose receivers may run beside this one's on the same Redis. Do not change them.
const parseValue = `
local function parse(value)
  local state, id, sha256, token, at = string.match(value, '^(%a)|([^|]*)|([^|]*)|([^|]*)|(%d+)$')
  return state, id, sha256, token, tonumber(at)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

const admitScript = `${parseValue}
local id, sha256, token, limit, ttl = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
-- An answer that repeats or refuses has a window of its own, past which only each hundredth gets a row.
local function logRow()
  local count = redis.call('INCR', KEYS[3])
  if count == 1 then redis.call('PEXPIRE', KEYS[3], 60000) end
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
  if state == 'P' and now - at < 10000 then return { 'pending', heldId, same } end
  if state and same == 1 then
    id = heldId
    takenOver = 1
  end
end
if limit >= 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 60000)
  local count = redis.call('ZCARD', KEYS[2])
  if count >= limit then
    local leaving = redis.call('ZRANGE', KEYS[2], math.max(count - limit, 0), math.max(count - limit, 0), 'WITHSCORES')
    local freeAt = leaving[2] and leaving[2] + 60000 or now + 60000
    return { 'rate_limited', math.max(freeAt - now, 1), logRow() }
  end
  redis.call('ZADD', KEYS[2], now, token)
  redis.call('PEXPIRE', KEYS[2], 60000)
end
redis.call('SET', KEYS[1], table.concat({ 'P', id, sha256, token, string.format('%.0f', now) }, '|'), 'EX', ttl)
return { 'admitted', id, takenOver, now - epoch }`;

const markSeenScript = `${parseValue}
local id, sha256, ttl = ARGV[1], ARGV[2], ARGV[3]
local value = redis.call('GET', KEYS[1])
if value then
  local state, heldId = parse(value)
  if state and heldId ~= id then return 0 end
end
redis.call('SET', KEYS[1], table.concat({ 'S', id, sha256, '', string.format('%.0f', now) }, '|'), 'EX', ttl)
return 1`;

const markFailedScript = `${parseValue}
local token = ARGV[1]
redis.call('ZREM', KEYS[2], token)
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
local state, id, sha256, heldToken = parse(value)
if state ~= 'P' or heldToken ~= token then return 0 end
redis.call('SET', KEYS[1], table.concat({ 'F', id, sha256, '', string.format('%.0f', now) }, '|'), 'KEEPTTL')
return 1`;

type Request = { projectId: string; webhookId: string; id: string; payloadSha256: string; token: string };

const keysOf = ({ projectId, webhookId }: Request) => [
  `hqrelay:idempotency:{${projectId}}:${webhookId}`,
  `hqrelay:ratelimit:{${projectId}}`,
  `hqrelay:repeats:{${projectId}}`,
  `hqrelay:epoch:{${projectId}}`,
];

/** The commands of a receiver of that version, and its names for the answers: `admitted`, `seen` and `pending`. */
export const previousVersion = {
  async reserve(redis: Redis, request: Request): Promise<{ kind: string; id: string }> {
    const { id, payloadSha256, token } = request;
    const answer = await redis.eval(admitScript, 4, ...keysOf(request), id, payloadSha256, token, -1, 3_600);
    const [kind, heldId] = answer as [string, string];
    return { kind, id: heldId };
  },
  async accept(redis: Redis, request: Request): Promise<void> {
    await redis.eval(
      markSeenScript,
      1,
      ...keysOf(request).slice(0, 1),
      request.id,
      request.payloadSha256,
      3_600,
    );
  },
  async release(redis: Redis, request: Request): Promise<void> {
    await redis.eval(markFailedScript, 2, ...keysOf(request).slice(0, 2), request.token);
  },
};
