import { endKeys, releaseKeys } from './key-operations.ts';
import {
  advance,
  keyNames,
  keysOf,
  spend,
  tokenOf,
  withKeys,
  type At,
  type Context,
  type ModelState,
  type ModelStep,
  type Name,
} from './model-state.ts';

/** What an admitted request does: makes its webhook durable, answers, and marks its key. */
export function* workSteps(
  context: Context,
  state: ModelState,
  name: Name,
  progress: At<'work'> | At<'mark'>,
): Generator<ModelStep> {
  if (progress.at === 'work') yield* work(context, state, name, progress);
  else yield* mark(context, state, name, progress);
}

function* work(
  { scenario, under }: Context,
  state: ModelState,
  name: Name,
  progress: At<'work'>,
): Generator<ModelStep> {
  const { id, store, turn, standing, hasRow, hasMessage } = progress;
  if (!hasRow) {
    const { webhookId, body } = scenario.requests[name]!;
    const stored = { ...progress, hasRow: true };
    const committed = { ...state, rows: withRow(state, { id, webhookId, body, spilled: false }) };
    yield { label: `${name} commits row ${id}`, state: advance(committed, name, stored) };
    if (state.faults.postgres > 0) {
      const spilled = { ...state, rows: withRow(state, { id, webhookId, body, spilled: true }) };
      yield { label: `${name} spills row ${id}`, state: advance(spend(spilled, 'postgres'), name, stored) };
    }
  }
  if (!hasMessage) {
    const messages = state.messages.includes(id) ? state.messages : [...state.messages, id].toSorted();
    const published = { ...progress, hasMessage: true };
    yield { label: `${name} publishes ${id}`, state: advance({ ...state, messages }, name, published) };
  }
  const admission = { store, turn, id, standing };
  if (under.mayAnswer(hasRow, hasMessage)) {
    const answered = state.answered.includes(id) ? state.answered : [...state.answered, id].toSorted();
    const after = advance({ ...state, answered }, name, { at: 'mark', mark: 'accept', ...admission });
    yield { label: `${name} answers 202 ${id}`, state: after };
  }
  if (state.faults.refusal > 0) {
    const refused = advance(spend(state, 'refusal'), name, { at: 'mark', mark: 'release', ...admission });
    yield { label: `${name} answers 503`, state: refused };
  }
}

/** A committed row replaces a spilled one of the same webhook. */
function withRow(state: ModelState, row: ModelState['rows'][number]): ModelState['rows'] {
  const before = state.rows.find(({ id }) => id === row.id);
  if (before && (!before.spilled || row.spilled)) return state.rows;
  return [...state.rows.filter((each) => each !== before), row].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The answer does not wait for the mark, which Redis may get after it was unavailable, or never. */
function* mark(
  { scenario, under }: Context,
  state: ModelState,
  name: Name,
  progress: At<'mark'>,
): Generator<ModelStep> {
  const { id, store, turn, standing } = progress;
  const ended = advance(state, name, { at: 'end' });
  if (store === 'none') {
    yield { label: `${name} ends`, state: ended };
    return;
  }
  if (store === 'Redis' && !state.isRedisUp) {
    yield { label: `${name} ends without marking its key`, state: ended };
    return;
  }
  const token = tokenOf(name, turn);
  const keys = keysOf(state, store);
  const marks = keyNames(scenario, name);
  const accepted = { id, payloadSha256: scenario.requests[name]!.body, token };
  const changed =
    progress.mark === 'accept'
      ? endKeys(under, store, keys, marks, standing, accepted)
      : releaseKeys(under, keys, marks, token);
  const label = `${name} marks its key ${progress.mark === 'accept' ? 'accepted' : 'released'}`;
  yield { label, state: withKeys(ended, store, changed) };
}
