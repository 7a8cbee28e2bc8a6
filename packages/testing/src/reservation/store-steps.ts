import { expireKeys, reserveInRedis } from './key-operations.ts';
import {
  isAlive,
  keyNames,
  names,
  spend,
  tokenOf,
  type Context,
  type ModelState,
  type ModelStep,
  type Name,
  type Unanswered,
} from './model-state.ts';

/** What happens to the stores, and the passing of time. */
export function* storeSteps(context: Context, state: ModelState): Generator<ModelStep> {
  yield* redisFaults(context, state);
  for (const command of state.unanswered) yield runUnanswered(context, state, command);
  const expired = names.some((name) => isAtWork(state, name)) ? undefined : expire(state);
  if (expired) yield { label: 'ten seconds pass', state: expired };
  if (state.faults.outlive > 0) {
    const outlived = expire(state);
    const label = 'ten seconds pass, and requests are still at work';
    if (outlived) yield { label, state: spend(outlived, 'outlive') };
  }
  for (const row of state.rows) {
    if (!row.spilled) continue;
    const rows = state.rows.map((each) => (each === row ? { ...row, spilled: false } : each));
    yield { label: `a worker writes the spilled row ${row.id}`, state: { ...state, rows } };
  }
}

/** After a loss every receiver distrusts Redis until the others have reported the projects that they served meanwhile. */
function* redisFaults({ scenario, under }: Context, state: ModelState): Generator<ModelStep> {
  if (scenario.withoutRedis) return;
  const isDistrusted = state.isDistrusted || under.distrusts;
  if (!state.isRedisUp) {
    const back = { ...state, isRedisUp: true, isDistrusted };
    yield { label: 'Redis is back', state: back };
    yield { label: 'Redis is back with old data', state: { ...back, redis: {} } };
    return;
  }
  if (state.faults.redis > 0)
    yield { label: 'Redis is lost', state: { ...spend(state, 'redis'), isRedisUp: false } };
  if (state.faults.flush > 0)
    yield { label: 'Redis is flushed', state: { ...spend(state, 'flush'), redis: {}, isDistrusted } };
}

/** Redis runs the commands of one connection in their order. */
function runUnanswered({ scenario, under }: Context, state: ModelState, command: Unanswered): ModelStep {
  const { name, reserve } = command;
  const others = state.unanswered.filter((each) => each !== command);
  if (!reserve) {
    const after = { ...state, isDistrusted: state.isDistrusted || under.distrusts, unanswered: others };
    return { label: `Redis learns that it is distrusted by the receiver of ${name}`, state: after };
  }
  const { id, turn } = reserve;
  const request = { id, payloadSha256: scenario.requests[name]!.body, token: tokenOf(name, turn) };
  const { keys } = reserveInRedis(under, state.redis, keyNames(scenario, name), request);
  return {
    label: `Redis runs the reservation of ${name}`,
    state: { ...state, redis: keys, unanswered: [...others, { name, reserve: null }] },
  };
}

function expire(state: ModelState): ModelState | undefined {
  const redis = expireKeys(state.redis);
  const postgres = expireKeys(state.postgres);
  const isSame = redis === state.redis && postgres === state.postgres;
  return isSame ? undefined : { ...state, redis, postgres };
}

/** A request that holds a key ends within ten seconds. */
function isAtWork(state: ModelState, name: Name): boolean {
  const { at } = state[name];
  return isAlive(state[name]) && at !== 'ask';
}
