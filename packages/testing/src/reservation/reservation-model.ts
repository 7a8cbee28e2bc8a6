import type { Decision } from '@hqrelay/domain/inbound/reservation';
import type { Model } from '../explore.ts';
import { expireKeys, priorWebhooks, reserveInRedis } from './key-operations.ts';
import {
  initialState,
  isAlive,
  keyNames,
  names,
  rules,
  tokenOf,
  type Context,
  type ModelState,
  type Rules,
  type Scenario,
} from './model-state.ts';
import { requestSteps } from './request-steps.ts';
import { storeSteps } from './store-steps.ts';

/** The receiver's reservations as a model: the requests of a scenario in every interleaving with its faults. */
export function reservationModel(scenario: Scenario, changed: Partial<Rules> = {}): Model<ModelState> {
  const context: Context = { scenario, under: { ...rules, ...changed } };
  return {
    initial: initialState(scenario),
    *steps(state) {
      for (const name of names) yield* requestSteps(context, state, name);
      yield* storeSteps(context, state);
    },
    *violations(state) {
      if (state.answered.length > 1) yield 'one webhook is answered 202 under two ids';
      const isDurable = (id: string) =>
        state.messages.includes(id) && state.rows.some((row) => row.id === id);
      if (!state.answered.every(isDurable)) yield 'a webhook is answered 202 that is not durable';
      const keys = [...Object.values(state.redis), ...Object.values(state.postgres)];
      if (keys.some((key) => key.state === 'accepted' && !isDurable(key.id)))
        yield 'a key is accepted whose webhook is not durable';
      const isAtWork =
        keys.some((key) => key.state === 'reserved') || names.some((name) => isAlive(state[name]));
      if (!isAtWork && retryDecisions(context, state).includes('wait'))
        yield 'a retry waits although no key is reserved';
      const expired = { redis: expireKeys(state.redis), postgres: expireKeys(state.postgres) };
      const retried = retryDecisions(context, { ...state, ...expired });
      if (retried.includes('wait')) yield 'a retry still waits after ten seconds';
      if (retried.includes('conflict') && state.rows.length === 0)
        yield 'a retry conflicts with a webhook that was never accepted';
    },
  };
}

/** What another request becomes, by each body and id. By then the worker has attempted every webhook that has a row. */
function retryDecisions({ scenario, under }: Context, state: ModelState): Decision['kind'][] {
  const { onConflict, withoutRedis } = scenario;
  return names.flatMap((name) => {
    const request = scenario.requests[name];
    // C repeats A.
    if (!request || (name === 'C' && scenario.requests.A)) return [];
    const marks = keyNames(scenario, name);
    const asked = { id: 'retry', payloadSha256: request.body, token: tokenOf('retry', 1) };
    const { reserved } = reserveInRedis(under, withoutRedis ? state.postgres : state.redis, marks, asked);
    const memoryAgeMs = state.isDistrusted || withoutRedis ? 0 : Number.POSITIVE_INFINITY;
    const looksUp =
      reserved.isMine && under.needsLookUp({ tookOver: reserved.tookOver, memoryAgeMs, windowMs: 1 });
    const carried = { ...state, messages: state.rows.map(({ id }) => id) };
    const prior = looksUp ? priorWebhooks(under, carried, marks, asked)[0]! : null;
    return [under.decide({ payloadSha256: request.body, onConflict }, reserved, prior).kind];
  });
}
