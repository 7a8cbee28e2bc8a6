/**
 * The life of an idempotency key, the same in every store. `reserved`: one request is making the webhook durable.
 * `accepted`: the webhook is durable. `released`: the request could not make it durable, and the next one may.
 *
 *     (no key) ──reserve──▶ reserved ──accept──▶ accepted
 *                            ▲    │
 *                         reserve release
 *                            │    ▼
 *                           released          A reservation that is 10 s old counts as released: its receiver crashed.
 *
 * Redis (a Lua script) and Postgres (a statement) each apply `reserve` and `release` atomically on their own clock; tests
 * hold both to the functions here.
 */
export type ReservationState = 'reserved' | 'accepted' | 'released';

export type Reservation = {
  state: ReservationState;
  /** The id that the webhook has, or gets when it is accepted. */
  id: string;
  payloadSha256: string;
  /** The request that reserved the key. */
  token: string;
  /** ms, on the store's clock. */
  reservedAt: number;
};

export type ReservationRequest = Pick<Reservation, 'id' | 'payloadSha256' | 'token'>;

/** How long a reservation is valid: longer than any request takes. After a crash, the retry waits as long. */
export const reservationMs = 10_000;

export type Reserved = {
  held: Reservation;
  /** This request has reserved the key. */
  isMine: boolean;
  /** An earlier request reserved the key and did not accept it. */
  tookOver: boolean;
};

/** Reserves a key unless it is accepted, or another request's reservation is still valid. A takeover keeps the webhook's id. */
export function reserve(held: Reservation | null, request: ReservationRequest, now: number): Reserved {
  if (held?.state === 'reserved' && held.token === request.token)
    return { held, isMine: true, tookOver: false };
  const isFree =
    !held ||
    held.state === 'released' ||
    (held.state === 'reserved' && now - held.reservedAt >= reservationMs);
  if (!isFree) return { held, isMine: false, tookOver: false };
  const { payloadSha256, token } = request;
  const id = held?.payloadSha256 === payloadSha256 ? held.id : request.id;
  return {
    held: { state: 'reserved', id, payloadSha256, token, reservedAt: now },
    isMine: true,
    tookOver: held !== null,
  };
}

/** Every request that accepts a key within a window has the same id, so accepting needs no condition. */
export function accept(request: ReservationRequest, now: number): Reservation {
  return { ...request, state: 'accepted', reservedAt: now };
}

/** Releases a key that this request has reserved; a command that runs late leaves another request's key alone. */
export function release(held: Reservation | null, token: string): Reservation | null {
  return held?.state === 'reserved' && held.token === token ? { ...held, state: 'released' } : held;
}

/** The webhook that Postgres has recorded or reserved for a key, apart from the request's own reservation. */
export type PriorWebhook = {
  id: string;
  payloadSha256: string;
  /** `accepted`: the webhook has its row, or was accepted without Redis. Else another request's reservation in Postgres. */
  state: ReservationState;
  /** An attempt, a row of the outbox or a held delivery proves that a message carries the webhook. */
  isCarried: boolean;
  /** It was found by the request's content: its own webhook id may be another one. */
  byContent?: boolean;
};

/** Which of the prior webhooks decides; `found` is in the order of the request's keys. */
export function decidingPrior(
  found: readonly (PriorWebhook | null)[],
  payloadSha256: string,
): PriorWebhook | null {
  return (
    found.find((prior) => prior && prior.state !== 'released') ??
    found.find((prior) => prior?.payloadSha256 === payloadSha256) ??
    null
  );
}

/** Which of a request's keys stand for a webhook: the one of its id, those of its content. */
export type KeysOfWebhook = { id: boolean; content: boolean };

export const bothKeys: KeysOfWebhook = { id: true, content: true };

/**
 * The keys of a request that are accepted together with the webhook that it repeats or makes; it releases the others. A body
 * that conflicts was not accepted, so another id may bring it again. An id that brought an accepted body again is released:
 * otherwise an attacker could use up the sender's next ids with one captured body.
 */
export function keysOfWebhook(
  request: { payloadSha256: string },
  webhook: { payloadSha256: string },
  prior: PriorWebhook | null,
): KeysOfWebhook {
  return {
    id: !(prior?.byContent && prior.state === 'accepted'),
    content: webhook.payloadSha256 === request.payloadSha256,
  };
}

/** Whether a request that has reserved a key must also ask Postgres for a prior webhook. */
export function needsLookUp(input: {
  tookOver: boolean;
  /** How long the store has remembered every id of the project; infinite for a store that forgets nothing. */
  memoryAgeMs: number;
  windowMs: number;
}): boolean {
  return input.tookOver || input.memoryAgeMs < input.windowMs;
}

export type Decision = {
  /** The step for this request's own reservation; `keep`: it stays reserved until the webhook is durable or refused. */
  own: 'keep' | 'accept' | 'release';
  /** Of the webhook that the key stands for. */
  id: string;
  payloadSha256: string;
} & (
  | {
      /** Make the webhook durable under `id`. */
      kind: 'admit';
      /** It was accepted before: the answer says so. */
      isReplay: boolean;
    }
  | { kind: 'duplicate' | 'conflict' }
  | {
      /** Another request is in progress: its outcome decides. */
      kind: 'wait';
      /** The request continues with the other's id, so that the id survives if its store becomes unavailable. */
      keepsId: boolean;
    }
);

/** Decides how a request is handled, from the key's reservation and from the prior webhook where one was looked up. */
export function decide(
  request: { payloadSha256: string; onConflict: 'reject' | 'duplicate' },
  { held, isMine }: Pick<Reserved, 'isMine'> & { held: Omit<Reservation, 'token' | 'reservedAt'> },
  prior: PriorWebhook | null,
): Decision {
  const isSame = (payloadSha256: string) => payloadSha256 === request.payloadSha256;
  const repeat = (payloadSha256: string) =>
    isSame(payloadSha256) || request.onConflict === 'duplicate' ? 'duplicate' : 'conflict';
  if (!isMine) {
    const { id, payloadSha256 } = held;
    return held.state === 'accepted'
      ? { kind: repeat(payloadSha256), own: 'keep', id, payloadSha256 }
      : { kind: 'wait', own: 'keep', id, payloadSha256, keepsId: isSame(payloadSha256) };
  }
  // A released prior was never accepted: with other bytes it is another webhook.
  if (!prior || (prior.state === 'released' && !isSame(prior.payloadSha256))) {
    return { kind: 'admit', own: 'keep', id: held.id, payloadSha256: held.payloadSha256, isReplay: false };
  }
  const { id, payloadSha256, state, isCarried } = prior;
  if (state === 'reserved') {
    return { kind: 'wait', own: 'release', id, payloadSha256, keepsId: isSame(payloadSha256) };
  }
  if (state === 'accepted' && isCarried) {
    return { kind: repeat(payloadSha256), own: 'accept', id, payloadSha256 };
  }
  // Perhaps no message carries it. A request with the same bytes makes it durable again under its id; other bytes cannot.
  if (isSame(payloadSha256)) {
    const isReplay = state === 'accepted' && id !== held.id;
    return { kind: 'admit', own: 'keep', id, payloadSha256, isReplay };
  }
  return request.onConflict === 'duplicate'
    ? { kind: 'wait', own: 'release', id, payloadSha256, keepsId: false }
    : { kind: 'conflict', own: 'release', id, payloadSha256 };
}
