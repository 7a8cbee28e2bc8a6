import type { Decision, KeysOfWebhook, PriorWebhook, Reserved } from '@hqrelay/domain/inbound/reservation';
import { endKeys, priorWebhooks, releaseKeys, reserveInPostgres, reserveInRedis } from './key-operations.ts';
import {
  advance,
  isAlive,
  keyNames,
  keysOf,
  names,
  spend,
  tokenOf,
  withKeys,
  type Admission,
  type At,
  type Context,
  type ModelState,
  type ModelStep,
  type Name,
  type Store,
} from './model-state.ts';
import { workSteps } from './work-steps.ts';

const turnsMax = 2;

/** What one request can do next, as `reserve` and `ingest` of the receiver do it; or its receiver crashes. */
export function* requestSteps(context: Context, state: ModelState, name: Name): Generator<ModelStep> {
  const progress = state[name];
  if (progress.at !== 'unsent' && progress.at !== 'end' && state.faults.crash > 0) {
    const after = advance(spend(state, 'crash'), name, { at: 'end' });
    yield { label: `the receiver of ${name} crashes`, state: after };
  }
  switch (progress.at) {
    case 'unsent':
      if (maySend(context, state, name)) {
        yield* askRedis(context, state, name, { at: 'ask', store: 'Redis', id: name.toLowerCase(), turn: 1 });
      }
      return;
    case 'ask':
      if (progress.store === 'Redis') yield* askRedis(context, state, name, progress);
      else yield* askPostgres(context, state, name, progress);
      return;
    case 'ask for content':
      yield* askForContent(context, state, name, progress);
      return;
    case 'look-up':
      yield* lookUp(context, state, name, progress);
      return;
    case 'work':
    case 'mark':
      yield* workSteps(context, state, name, progress);
      return;
    case 'end':
  }
}

/** The retry follows an answer or a crash. Of A and B, which differ in nothing but their names, A is the first. */
function maySend({ scenario: { requests } }: Context, state: ModelState, name: Name): boolean {
  const { A, B } = requests;
  const isSymmetric = A?.webhookId === B?.webhookId && A?.body === B?.body;
  if (name === 'B') return !isSymmetric || state.A.at !== 'unsent';
  if (name === 'C') return hasEnded(state, 'A') || (isSymmetric && hasEnded(state, 'B'));
  return true;
}

function hasEnded(state: ModelState, name: Name): boolean {
  return state[name].at !== 'unsent' && !isAlive(state[name]);
}

function* askRedis(
  context: Context,
  state: ModelState,
  name: Name,
  progress: At<'ask'>,
): Generator<ModelStep> {
  const { scenario, under } = context;
  const { id, turn } = progress;
  const inPostgres = advance(state, name, { ...progress, store: 'Postgres' });
  if (!state.isRedisUp) {
    yield { label: `${name} finds Redis unavailable`, state: inPostgres };
    return;
  }
  if (state.faults.redis > 0) {
    for (const reserve of [{ id, turn }, null]) {
      const after = { ...spend(inPostgres, 'redis'), unanswered: [...state.unanswered, { name, reserve }] };
      yield { label: `Redis ${reserve ? 'does not answer' : 'cannot be reached by'} ${name}`, state: after };
    }
  }
  if (state.unanswered.length > 0 && !scenario.without?.includes('told')) return;
  const request = { id, payloadSha256: scenario.requests[name]!.body, token: tokenOf(name, turn) };
  const { keys, reserved } = reserveInRedis(under, state.redis, keyNames(scenario, name), request);
  const after = { ...state, redis: keys };
  const label = `${name} asks Redis`;
  const memoryAgeMs = state.isDistrusted ? 0 : Number.POSITIVE_INFINITY;
  if (reserved.isMine && under.needsLookUp({ tookOver: reserved.tookOver, memoryAgeMs, windowMs: 1 })) {
    yield { label, state: advance(after, name, { at: 'look-up', store: 'Redis', id, turn, reserved }) };
  } else {
    yield* conclude(context, after, name, { store: 'Redis', id, turn, reserved }, null, label);
  }
}

function* askPostgres(
  context: Context,
  state: ModelState,
  name: Name,
  progress: At<'ask'>,
): Generator<ModelStep> {
  const { scenario, under } = context;
  const { id, turn } = progress;
  if (state.faults.postgres > 0) {
    const after = advance(spend(state, 'postgres'), name, work({ store: 'none', id, turn, standing: [] }));
    yield { label: `Postgres does not answer ${name} either: admit ${id}`, state: after };
  }
  const [idKey = ''] = keyNames(scenario, name);
  const request = { id, payloadSha256: scenario.requests[name]!.body, token: tokenOf(name, turn) };
  const { keys, reserved } = reserveInPostgres(under, state.postgres, idKey, request);
  const after = { ...state, postgres: keys };
  const label = `${name} asks Postgres`;
  if (!reserved.isMine) {
    yield* conclude(context, after, name, { store: 'Postgres', id, turn, reserved }, null, label);
  } else if (scenario.hasContentKey) {
    yield { label, state: advance(after, name, { at: 'ask for content', id, turn, reserved }) };
  } else {
    yield { label, state: advance(after, name, { at: 'look-up', store: 'Postgres', id, turn, reserved }) };
  }
}

function* askForContent(
  context: Context,
  state: ModelState,
  name: Name,
  { id, turn, reserved: byId }: At<'ask for content'>,
): Generator<ModelStep> {
  const { scenario, under } = context;
  const payloadSha256 = scenario.requests[name]!.body;
  const request = { id: byId.held.id, payloadSha256, token: tokenOf(name, turn) };
  const { keys, reserved: byContent } = reserveInPostgres(under, state.postgres, 'content', request);
  const label = `${name} asks Postgres for the content`;
  if (!byContent.isMine) {
    const [idKey = ''] = keyNames(scenario, name);
    const after = { ...state, postgres: releaseKeys(under, keys, [idKey], request.token) };
    yield* conclude(context, after, name, { store: 'Postgres', id, turn, reserved: byContent }, null, label);
    return;
  }
  const next = { at: 'look-up', store: 'Postgres', id, turn, reserved: byContent } as const;
  yield { label, state: advance({ ...state, postgres: keys }, name, next) };
}

function* lookUp(
  context: Context,
  state: ModelState,
  name: Name,
  progress: At<'look-up'>,
): Generator<ModelStep> {
  const { scenario, under } = context;
  const { store, turn } = progress;
  if (state.faults.postgres > 0) {
    const label = `Postgres does not answer ${name}`;
    yield* conclude(context, spend(state, 'postgres'), name, progress, null, label);
  }
  if (!areVisible(context, state, name, progress.reserved.held.id)) return;
  const visible = store === 'Postgres' && !under.looksForRows ? { ...state, rows: [] } : state;
  const asked = { token: tokenOf(name, turn), payloadSha256: scenario.requests[name]!.body };
  for (const prior of priorWebhooks(under, visible, keyNames(scenario, name), asked)) {
    const label = `${name} looks in Postgres${prior?.state === 'accepted' && !prior.isCarried ? ', before an attempt' : ''}`;
    yield* conclude(context, state, name, progress, prior, label);
  }
}

/** Whether every other request at work that Redis has admitted has its row, or the id that this request has. */
function areVisible({ scenario }: Context, state: ModelState, name: Name, id: string): boolean {
  const { faults, without } = scenario;
  const hasFailed = state.faults.redis < (faults.redis ?? 0) || state.faults.flush < (faults.flush ?? 0);
  if (!hasFailed || without?.includes('visible')) return true;
  return names.every((other) => {
    const progress = state[other];
    if (other === name || progress.at !== 'work' || progress.store !== 'Redis') return true;
    return progress.hasRow || progress.id === id;
  });
}

function* conclude(
  { scenario, under }: Context,
  state: ModelState,
  name: Name,
  from: { store: Store; id: string; turn: number; reserved: Reserved },
  prior: PriorWebhook | null,
  question: string,
): Generator<ModelStep> {
  const { store, turn } = from;
  const { body } = scenario.requests[name]!;
  const request = { payloadSha256: body, onConflict: scenario.onConflict };
  const decision = under.decide(request, from.reserved, prior);
  const { id } = decision;
  const label = `${question}: ${decision.kind} ${id}`;
  const standing = standingKeys(keyNames(scenario, name), under.keysOfWebhook(request, decision, prior));
  const after = withOwnMark({ scenario, under }, state, name, from, decision, standing);
  switch (decision.kind) {
    case 'admit':
      yield { label, state: advance(after, name, work({ store, turn, id, standing })) };
      return;
    case 'wait': {
      // A new token protects the next reservation from a late release.
      const nextTurn = decision.own === 'release' ? turn + 1 : turn;
      const nextId = decision.keepsId ? id : from.id;
      const again = { at: 'ask', store: 'Redis', id: nextId, turn: nextTurn } as const;
      yield { label, state: advance(after, name, nextTurn > turnsMax ? { at: 'end' } : again) };
      return;
    }
    case 'duplicate': {
      const answered = state.answered.includes(id) ? state.answered : [...state.answered, id].toSorted();
      yield { label, state: advance({ ...after, answered }, name, { at: 'end' }) };
      return;
    }
    case 'conflict':
      yield { label, state: advance(after, name, { at: 'end' }) };
  }
}

/** A mark that does not reach Redis is lost: the reservation expires. */
function withOwnMark(
  { scenario, under }: Context,
  state: ModelState,
  name: Name,
  { store, turn }: { store: Store; turn: number },
  { own, id, payloadSha256 }: Decision,
  standing: readonly string[],
): ModelState {
  if (own === 'keep' || (store === 'Redis' && !state.isRedisUp)) return state;
  const keys = keysOf(state, store);
  const token = tokenOf(name, turn);
  const marks = keyNames(scenario, name);
  const changed =
    own === 'accept'
      ? endKeys(under, store, keys, marks, standing, { id, payloadSha256, token })
      : releaseKeys(under, keys, marks, token);
  return withKeys(state, store, changed);
}

function standingKeys([idName = '', ...contentNames]: readonly string[], stands: KeysOfWebhook): string[] {
  return [...(stands.id ? [idName] : []), ...(stands.content ? contentNames : [])];
}

function work(admission: Admission): At<'work'> {
  return { at: 'work', ...admission, hasRow: false, hasMessage: false };
}
