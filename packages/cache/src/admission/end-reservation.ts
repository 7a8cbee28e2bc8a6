import { bothKeys, type KeysOfWebhook } from '@hqrelay/domain/inbound/reservation';
import type { Cache } from '../client.ts';
import { formatReservation, reservationLua, stateLetters } from '../reservation-value.ts';
import { runScript, runScriptNow, script } from '../script.ts';
import { onceATurn } from '../once-a-turn.ts';
import type { AdmissionRequest } from './admit.ts';
import { contentKeyName, idempotencyKey, rateLimitKey } from './reservation-keys.ts';

const { reserved, released } = stateLetters;

const acceptScript = script(`
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[2 * i - 1], 'EX', ARGV[2 * i]) end
return #KEYS`);

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

export type AcceptedKey = Pick<
  AdmissionRequest,
  'projectId' | 'webhookId' | 'id' | 'payloadSha256' | 'idempotencyTtlSeconds' | 'contentKeys'
>;

/** Accepts the keys that stand for the webhook, each for its window. False when Redis is unavailable. */
export function acceptKeys(
  cache: Cache,
  key: AcceptedKey,
  stands: KeysOfWebhook = bothKeys,
): Promise<boolean | undefined> {
  return acceptOnceATurn(cache, { key, stands });
}

const acceptOnceATurn = onceATurn(
  async (cache, accepted: readonly { key: AcceptedKey; stands: KeysOfWebhook }[]) => {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    const at = Date.now();
    for (const { key, stands } of accepted) {
      const { id, payloadSha256, projectId } = key;
      const value = formatReservation({ state: 'accepted', id, payloadSha256, token: '', at });
      if (stands.id) {
        keys.push(idempotencyKey(projectId, key.webhookId));
        args.push(value, key.idempotencyTtlSeconds);
      }
      for (const contentKey of stands.content ? key.contentKeys : []) {
        keys.push(contentKeyName(projectId, contentKey));
        args.push(value, contentKey.ttlSeconds);
      }
    }
    const answer = await cache.tryCommand((redis) => runScriptNow(redis, acceptScript, keys, args));
    return accepted.map(() => answer !== undefined);
  },
);

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
