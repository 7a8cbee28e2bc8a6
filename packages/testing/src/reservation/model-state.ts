import {
  accept,
  decide,
  decidingPrior,
  keysOfWebhook,
  needsLookUp,
  release,
  reserve,
  type Reservation,
  type Reserved,
} from '@hqrelay/domain/inbound/reservation';
import type { Step } from '../explore.ts';

/** The rules under check; a mutation replaces one of them. */
export const rules = {
  reserve,
  accept,
  release,
  needsLookUp,
  decidingPrior,
  decide,
  keysOfWebhook,
  /** Redis is distrusted after a request was served without it, and after it has forgotten. */
  distrusts: true,
  /** A request is answered 202 by what it has made durable. */
  mayAnswer: (hasRow: boolean, hasMessage: boolean) => hasRow && hasMessage,
  /** A request that Postgres serves looks for rows of webhooks that Redis has admitted. */
  looksForRows: true,
};

export type Rules = typeof rules;

/** A request named A gives the id `a`, on a receiver of its own. C is the provider's retry. */
export type Name = 'A' | 'B' | 'C';

export type Scenario = {
  requests: Readonly<Partial<Record<Name, { webhookId: 'i' | 'j'; body: 'x' | 'y' }>>>;
  onConflict: 'reject' | 'duplicate';
  /** The same content under another id is a duplicate. */
  hasContentKey?: boolean;
  /** Redis is unavailable throughout. */
  withoutRedis?: boolean;
  faults: Partial<Faults>;
  /** Assumptions that do not hold in this scenario. */
  without?: readonly Assumption[];
};

/**
 * What the design relies on without a mechanism (decision 1). `visible`: a request that looks in Postgres, because Redis did
 * not answer it or has forgotten, finds the rows of all requests that Redis has admitted. `told`: Redis learns that it is
 * distrusted before it is asked for the same webhook again.
 */
export type Assumption = 'visible' | 'told';

/** How many faults of each kind may happen. */
export type Faults = {
  /** A receiver crashes. */
  crash: number;
  /** A store does not take a webhook, or only seems so, and its request is answered 503. */
  refusal: number;
  /** Redis does not answer one request, or is lost and comes back, perhaps with old data. */
  redis: number;
  /** Redis loses its keys and stays available. */
  flush: number;
  /** Postgres does not answer a query, or a row is spilled. */
  postgres: number;
  /** A request is still at work when its reservation expires. */
  outlive: number;
};

export type Store = 'Redis' | 'Postgres';

export type Progress =
  | { at: 'unsent' }
  | { at: 'ask'; store: Store; id: string; turn: number }
  | { at: 'ask for content'; id: string; turn: number; reserved: Reserved }
  | { at: 'look-up'; store: Store; id: string; turn: number; reserved: Reserved }
  | ({ at: 'work'; hasRow: boolean; hasMessage: boolean } & Admission)
  | ({ at: 'mark'; mark: 'accept' | 'release' } & Admission)
  | { at: 'end' };

export type Admission = {
  store: Store | 'none';
  turn: number;
  id: string;
  /** The names of the keys that are accepted with the webhook; the request's others are released. */
  standing: readonly string[];
};

export type At<Phase extends Progress['at']> = Extract<Progress, { at: Phase }>;

/** Reservations by the name of their key: a webhook id, or `content`. */
export type Keys = Readonly<Record<string, Reservation>>;

/** Commands of one request that Redis has not run: its reservation, then the distrust. */
export type Unanswered = { name: Name; reserve: { id: string; turn: number } | null };

export type ModelState = Record<Name, Progress> & {
  isRedisUp: boolean;
  redis: Keys;
  isDistrusted: boolean;
  unanswered: readonly Unanswered[];
  postgres: Keys;
  /** The queued rows; `spilled` ones are in RabbitMQ, where no query finds them. */
  rows: readonly { id: string; webhookId: string; body: string; spilled: boolean }[];
  /** The ids under which messages were stored. */
  messages: readonly string[];
  /** The ids of all answers 202. */
  answered: readonly string[];
  faults: Faults;
};

export type ModelStep = Step<ModelState>;

export type Context = { scenario: Scenario; under: Rules };

export const names: readonly Name[] = ['A', 'B', 'C'];

export function initialState({ requests, faults, withoutRedis }: Scenario): ModelState {
  const progressOf = (name: Name): Progress => ({ at: requests[name] ? 'unsent' : 'end' });
  return {
    A: progressOf('A'),
    B: progressOf('B'),
    C: progressOf('C'),
    isRedisUp: !withoutRedis,
    redis: {},
    isDistrusted: false,
    unanswered: [],
    postgres: {},
    rows: [],
    messages: [],
    answered: [],
    faults: { crash: 0, refusal: 0, redis: 0, flush: 0, postgres: 0, outlive: 0, ...faults },
  };
}

/** The model has no clock: a reservation is as old as now, or has expired. */
export const now = 0;

export const tokenOf = (name: Name | 'retry', turn: number): string => `${name}${turn}`;

/** A request that has its answer may still mark its key. */
export function isAlive({ at }: Progress): boolean {
  return at !== 'unsent' && at !== 'mark' && at !== 'end';
}

export function keyNames({ requests, hasContentKey }: Scenario, name: Name): string[] {
  const { webhookId } = requests[name]!;
  return hasContentKey ? [webhookId, 'content'] : [webhookId];
}

export function keysOf(state: ModelState, store: Store): Keys {
  return store === 'Redis' ? state.redis : state.postgres;
}

export function withKeys(state: ModelState, store: Store, keys: Keys): ModelState {
  return store === 'Redis' ? { ...state, redis: keys } : { ...state, postgres: keys };
}

export function advance(state: ModelState, name: Name, progress: Progress): ModelState {
  return { ...state, [name]: progress };
}

export function spend(state: ModelState, fault: keyof Faults): ModelState {
  return { ...state, faults: { ...state.faults, [fault]: state.faults[fault] - 1 } };
}
