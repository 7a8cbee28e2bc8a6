/** The alert of one rule, kind and endpoint (or project). All times are ms since epoch. */
export type AlertState = {
  /** When its condition was first seen; null while the condition does not hold. */
  activeSince: number | null;
  /** When the last firing message was made; null before the first. */
  messagedAt: number | null;
  /** The count in that message, less what has been settled since. */
  toldCount: number;
  /** The time of the last occurrence in that message. */
  toldTo: number | null;
};

/** What the facts say at present. */
export type Occurrences = { count: number; lastAt: number | null };

/** `withheld`: a person paused or disabled the endpoint, or the facts cannot be read: nothing is concluded. */
export type Observation = Occurrences | 'withheld' | undefined;

export type AlertDecision = {
  /** Undefined: there is nothing to remember. */
  state: AlertState | undefined;
  message: 'none' | 'firing' | 'reminder' | 'recovered';
};

type Options = {
  now: number;
  windowMs: number;
  snoozedUntil: number | null;
  /** Whether further occurrences are told in later windows, not in reminders alone. */
  isRepeated: boolean;
};

/** Occurrences within it are one message. */
const gatherMs = 30_000;
const remindEveryMs = 86_400_000;

const neverTold: AlertState = { activeSince: null, messagedAt: null, toldCount: 0, toldTo: null };

/**
 * Decides which message is due. At most one firing message is made in a window; a recovery is told once, and only after the
 * firing. During a snooze nothing is told, and what still holds, or has ended, is told after it.
 */
export function decideAlert(
  state: AlertState | undefined,
  observation: Observation,
  options: Options,
): AlertDecision {
  if (observation === 'withheld') return { state, message: 'none' };
  return observation ? whileActive(state, observation, options) : whileQuiet(state, options);
}

function whileQuiet(state: AlertState | undefined, { now, windowMs, snoozedUntil }: Options): AlertDecision {
  if (!state) return { state, message: 'none' };
  if (isTold(state)) {
    if (isSnoozed(snoozedUntil, now)) return { state, message: 'none' };
    return { state: { ...state, activeSince: null }, message: 'recovered' };
  }
  const isWindowOver = state.messagedAt === null || now >= state.messagedAt + windowMs;
  return { state: isWindowOver ? undefined : { ...state, activeSince: null }, message: 'none' };
}

function whileActive(
  before: AlertState | undefined,
  { count, lastAt }: Occurrences,
  { now, windowMs, snoozedUntil, isRepeated }: Options,
): AlertDecision {
  const known = before ?? neverTold;
  const state = {
    ...known,
    activeSince: known.activeSince ?? now,
    toldCount: Math.min(known.toldCount, count),
  };
  if (isSnoozed(snoozedUntil, now)) return { state, message: 'none' };
  const told = { ...state, messagedAt: now, toldCount: count, toldTo: lastAt };
  const isWindowOver = state.messagedAt === null || now >= state.messagedAt + windowMs;
  if (!isTold(state)) {
    const isDue = isWindowOver && now >= state.activeSince + gatherMs;
    return isDue ? { state: told, message: 'firing' } : { state, message: 'none' };
  }
  const hasMore = count > state.toldCount || (lastAt !== null && lastAt > (state.toldTo ?? 0));
  if (isRepeated && hasMore && isWindowOver) return { state: told, message: 'firing' };
  if (now >= (state.messagedAt ?? now) + remindEveryMs) return { state: told, message: 'reminder' };
  return { state, message: 'none' };
}

/** Whether a message told that the condition holds. */
function isTold({ activeSince, messagedAt }: AlertState): boolean {
  return activeSince !== null && messagedAt !== null && messagedAt >= activeSince;
}

function isSnoozed(snoozedUntil: number | null, now: number): boolean {
  return snoozedUntil !== null && now < snoozedUntil;
}
