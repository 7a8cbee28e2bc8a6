import type { Reservation } from '@hqrelay/domain/inbound/reservation';
import type { Cache } from '../client.ts';
import { onceATurn } from '../once-a-turn.ts';
import { formatUntimed, stateOf } from '../reservation-value.ts';
import { runScriptNow } from '../script.ts';
import { admitScript } from './admit-script.ts';
import {
  contentKeyName,
  epochKey,
  idempotencyKey,
  originKey,
  rateLimitKey,
  repeatsKey,
  type ContentKey,
} from './reservation-keys.ts';

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

type Answer = [kind: 'reserved' | 'held' | 'rate_limited' | 'refused', ...(string | number)[]];

/**
 * Duplicate check, rate limit and reservation in one round trip, on Redis's clock; undefined when Redis does not decide it in
 * time. The requests of one turn share the round trip.
 */
export async function admit(cache: Cache, request: AdmissionRequest): Promise<Admission | undefined> {
  let answer: Answer | undefined;
  try {
    answer = await admitOnceATurn(cache, request);
  } catch {
    // A Redis that refuses the script counts as unavailable; the cache reports it.
  }
  if (!answer) return undefined;
  if (answer[0] !== 'refused') return admissionOf(request, answer);
  await cache.handleRefusal(String(answer[1]));
  return undefined;
}

const admitOnceATurn = onceATurn(async (cache, requests: readonly AdmissionRequest[]) => {
  const keys: string[] = [];
  const args: (string | number)[] = [cache.origin];
  for (let first = 0; first < requests.length;) {
    const end = endOfProject(requests, first);
    appendProject(requests[first] as AdmissionRequest, end - first, keys, args);
    for (; first < end; first += 1) appendRequest(requests[first] as AdmissionRequest, keys, args);
  }
  const answer = await cache.tryCommand((redis) => runScriptNow(redis, admitScript, keys, args));
  return answer ? (answer.value as Answer[]) : [];
});

/** Where the requests end that follow `first` and are of its project, and of the same limit. */
function endOfProject(requests: readonly AdmissionRequest[], first: number): number {
  const { projectId, rateLimitPerMinute } = requests[first] as AdmissionRequest;
  const isOfProject = (request: AdmissionRequest | undefined) =>
    request?.projectId === projectId && request.rateLimitPerMinute === rateLimitPerMinute;
  let end = first + 1;
  while (isOfProject(requests[end])) end += 1;
  return end;
}

function appendProject(
  { projectId, rateLimitPerMinute }: AdmissionRequest,
  requests: number,
  keys: string[],
  args: (string | number)[],
): void {
  keys.push(epochKey(projectId), originKey(projectId));
  if (rateLimitPerMinute !== null) keys.push(rateLimitKey(projectId), repeatsKey(projectId));
  args.push(rateLimitPerMinute ?? -1, requests);
}

function appendRequest(request: AdmissionRequest, keys: string[], args: (string | number)[]): void {
  const { projectId, id, payloadSha256, token, contentKeys } = request;
  keys.push(idempotencyKey(projectId, request.webhookId));
  const reservation = formatUntimed({ state: 'reserved', id, payloadSha256, token });
  args.push(reservation, request.idempotencyTtlSeconds, contentKeys.length);
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
