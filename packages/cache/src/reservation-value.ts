import type { ReservationState } from '@hqrelay/domain/inbound/reservation';

/**
 * The stored form of a reservation: `state|id|SHA-256 of the body|token|ms`. Receivers of the previous version read and
 * write the same bytes, so these letters must not change.
 */
export const stateLetters: Readonly<Record<ReservationState, string>> = {
  reserved: 'P',
  accepted: 'S',
  released: 'F',
};

const stateOfLetter = new Map(Object.entries(stateLetters).map(([state, letter]) => [letter, state]));

/** The state that a script returns as its letter. Throws for any other text. */
export function stateOf(letter: string): ReservationState {
  const state = stateOfLetter.get(letter);
  if (!state) throw new RangeError(`"${letter}" is no state of a reservation`);
  return state as ReservationState;
}

export type StoredReservation = {
  state: ReservationState;
  id: string;
  payloadSha256: string;
  token: string;
  at: number;
};

/** `at` is ms since epoch, on Redis's clock where the age of a reservation counts. */
export function formatReservation(reservation: StoredReservation): string {
  return formatUntimed(reservation) + Math.floor(reservation.at);
}

/** All but the time, which is appended. */
export function formatUntimed({ state, id, payloadSha256, token }: Omit<StoredReservation, 'at'>): string {
  return `${stateLetters[state]}|${id}|${payloadSha256}|${token}|`;
}

/** Lua: `now` in ms, and the functions `parse` and `format` of the same form. */
export const reservationLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function parse(value)
  local state, id, sha256, token, at = string.match(value, '^(%a)|([^|]*)|([^|]*)|([^|]*)|(%d+)$')
  return state, id, sha256, token, tonumber(at)
end
local function format(state, id, sha256, token, at)
  return table.concat({ state, id, sha256, token, string.format('%.0f', at) }, '|')
end
`;
