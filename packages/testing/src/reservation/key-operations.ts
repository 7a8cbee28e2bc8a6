import type {
  PriorWebhook,
  Reservation,
  ReservationRequest,
  Reserved,
} from '@hqrelay/domain/inbound/reservation';
import { reservationMs } from '@hqrelay/domain/inbound/reservation';
import { now, type Keys, type ModelState, type Rules } from './model-state.ts';

type Operations = Pick<Rules, 'reserve' | 'accept' | 'release'>;

/** Reserves as the script of Redis does: both keys or none. `name` is the key of the webhook's id. */
export function reserveInRedis(
  { reserve }: Operations,
  keys: Keys,
  [name = '', contentName]: readonly string[],
  request: ReservationRequest,
): { keys: Keys; reserved: Reserved } {
  const byId = reserve(keys[name] ?? null, request, now);
  if (!byId.isMine || byId.held === keys[name] || !contentName)
    return { keys: byId.isMine ? { ...keys, [name]: byId.held } : keys, reserved: byId };
  const byContent = reserve(keys[contentName] ?? null, request, now);
  if (!byContent.isMine) return { keys, reserved: byContent };
  const held = withIdOfContent(byId.held, byContent.held, request);
  const tookOver = byId.tookOver || byContent.tookOver;
  return {
    keys: { ...keys, [name]: held, [contentName]: held },
    reserved: { held, isMine: true, tookOver },
  };
}

/** The id's key decides, unless it is new to the store and the content is not. */
function withIdOfContent(
  byId: Reservation,
  byContent: Reservation,
  request: ReservationRequest,
): Reservation {
  return byId.id === request.id ? { ...byId, id: byContent.id } : byId;
}

/** Reserves one key as the statement of Postgres does. */
export function reserveInPostgres(
  { reserve }: Operations,
  keys: Keys,
  name: string,
  request: ReservationRequest,
): { keys: Keys; reserved: Reserved } {
  const reserved = reserve(keys[name] ?? null, request, now);
  return { keys: reserved.isMine ? { ...keys, [name]: reserved.held } : keys, reserved };
}

/** Redis sets the value unconditionally; Postgres updates an existing row. */
export function acceptKeys(
  { accept }: Operations,
  store: 'Redis' | 'Postgres',
  keys: Keys,
  names: readonly string[],
  request: ReservationRequest,
): Keys {
  const accepted = accept(request, now);
  const changed = names.filter((name) => store === 'Redis' || keys[name]);
  return changed.length === 0
    ? keys
    : { ...keys, ...Object.fromEntries(changed.map((name) => [name, accepted])) };
}

/** Accepts the keys that stand for the webhook and releases the others of its request. */
export function endKeys(
  operations: Operations,
  store: 'Redis' | 'Postgres',
  keys: Keys,
  names: readonly string[],
  standing: readonly string[],
  request: ReservationRequest,
): Keys {
  const others = names.filter((name) => !standing.includes(name));
  const accepted = acceptKeys(operations, store, keys, standing, request);
  return releaseKeys(operations, accepted, others, request.token);
}

export function releaseKeys(
  { release }: Operations,
  keys: Keys,
  names: readonly string[],
  token: string,
): Keys {
  const released = names.flatMap((name) => {
    const held = keys[name] && release(keys[name], token);
    return held && held !== keys[name] ? [[name, held] as const] : [];
  });
  return released.length === 0 ? keys : { ...keys, ...Object.fromEntries(released) };
}

/** The keys after ten seconds. */
export function expireKeys(keys: Keys): Keys {
  const fresh = Object.entries(keys).filter(
    ([, { state, reservedAt }]) => state === 'reserved' && reservedAt === now,
  );
  if (fresh.length === 0) return keys;
  const expired = fresh.map(([name, held]) => [name, { ...held, reservedAt: now - reservationMs }]);
  return { ...keys, ...Object.fromEntries(expired) };
}

/**
 * Every answer that the look-up may give: a row may have no attempt yet although its message is stored. A row is found by its
 * webhook id, content by its key alone.
 */
export function priorWebhooks(
  { decidingPrior }: Pick<Rules, 'decidingPrior'>,
  state: Pick<ModelState, 'rows' | 'messages' | 'postgres'>,
  [name = '', ...contentNames]: readonly string[],
  { token, payloadSha256 }: { token: string; payloadSha256: string },
): (PriorWebhook | null)[] {
  const byContent = contentNames.map((each) => {
    const prior = keyOfAnother(state.postgres[each], token);
    return prior && { ...prior, byContent: true };
  });
  const byId = priorById(state, name, token);
  return byId.map((prior) => decidingPrior([prior, ...byContent], payloadSha256));
}

function priorById(
  { rows, messages, postgres }: Pick<ModelState, 'rows' | 'messages' | 'postgres'>,
  name: string,
  token: string,
): (PriorWebhook | null)[] {
  const [row] = rows
    .filter(({ webhookId, spilled }) => webhookId === name && !spilled)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (!row) return [keyOfAnother(postgres[name], token)];
  const prior = { id: row.id, payloadSha256: row.body, state: 'accepted', isCarried: false } as const;
  return messages.includes(row.id) ? [{ ...prior, isCarried: true }, prior] : [prior];
}

function keyOfAnother(key: Reservation | undefined, ownToken: string): PriorWebhook | null {
  if (!key || key.token === ownToken) return null;
  const { state, id, payloadSha256, reservedAt } = key;
  if (state === 'reserved' && now - reservedAt >= reservationMs) return null;
  return { id, payloadSha256, state, isCarried: state === 'accepted' };
}
