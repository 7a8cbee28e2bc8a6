/** A state machine as data: where it starts, its steps, and what must hold in every state that it can reach. */
export type Model<State> = {
  initial: State;
  /** Every step that is possible in a state. `label` is the step's line in a counter-example. */
  steps: (state: State) => Iterable<Step<State>>;
  /** Sentences that say which invariants this state breaks; none when it is sound. */
  violations: (state: State) => Iterable<string>;
  /** From every reachable state some sequence of steps leads to a state that satisfies `reached`. */
  alwaysReachable?: { sentence: string; reached: (state: State) => boolean };
};

export type Step<State> = { label: string; state: State };

export type Exploration =
  { kind: 'holds'; states: number } | { kind: 'broken'; sentence: string; path: string[]; states: number };

type Node<State> = { state: State; label: string; from: number; index: number };

/**
 * Visits every reachable state, nearest first, so that the first violation has the shortest path there is. Throws
 * RangeError when the model has more than `statesMax` states: a search that stops early would prove nothing.
 */
export function explore<State>(model: Model<State>, options: { statesMax?: number } = {}): Exploration {
  const { statesMax = 1_000_000 } = options;
  const keyOf = createKeyOf();
  const nodes: Node<State>[] = [{ state: model.initial, label: '', from: -1, index: 0 }];
  const indexes = new Map([[keyOf(model.initial), 0]]);
  const edges: [from: number, to: number][] = [];
  for (const node of nodes) {
    for (const sentence of model.violations(node.state)) return broken(nodes, node.index, sentence);
    for (const { label, state } of model.steps(node.state)) {
      const key = keyOf(state);
      const index = indexes.get(key) ?? nodes.length;
      if (index === nodes.length) {
        if (nodes.length === statesMax) throw new RangeError(`the model has over ${statesMax} states`);
        indexes.set(key, index);
        nodes.push({ state, label, from: node.index, index });
      }
      if (model.alwaysReachable) edges.push([node.index, index]);
    }
  }
  const stuck = model.alwaysReachable && firstStuck(nodes, edges, model.alwaysReachable.reached);
  return stuck === undefined
    ? { kind: 'holds', states: nodes.length }
    : broken(nodes, stuck, model.alwaysReachable!.sentence);
}

/** An exploration as text: the sentence, then one numbered line for each step of the counter-example. */
export function describeExploration(exploration: Exploration): string {
  if (exploration.kind === 'holds') return `holds in all ${exploration.states} states`;
  const lines = exploration.path.map((label, index) => `  ${index + 1}. ${label}`);
  return [`${exploration.sentence}:`, ...lines].join('\n');
}

/**
 * Two states with the same key are one state. An object's key has one number for each field, by the field's JSON; objects
 * that a state shares with the one before are not serialised again, which is most of the cost of a search.
 */
function createKeyOf(): (state: unknown) => string {
  const numbers = new Map<string, number>();
  const numbered = new WeakMap<object, number>();
  const numberOf = (field: unknown): number => {
    const isObject = typeof field === 'object' && field !== null;
    const before = isObject ? numbered.get(field) : undefined;
    if (before !== undefined) return before;
    const text = JSON.stringify(field) ?? 'undefined';
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    if (isObject) numbered.set(field, number);
    return number;
  };
  return (state) => {
    if (typeof state !== 'object' || state === null) return JSON.stringify(state);
    let key = '';
    for (const [name, field] of Object.entries(state)) key += `${name}${numberOf(field)},`;
    return key;
  };
}

function broken<State>(nodes: readonly Node<State>[], index: number, sentence: string): Exploration {
  const path: string[] = [];
  for (let node = nodes[index]!; node.from !== -1; node = nodes[node.from]!) path.unshift(node.label);
  return { kind: 'broken', sentence, path, states: nodes.length };
}

/** The nearest state from which no state that satisfies `reached` can be reached. */
function firstStuck<State>(
  nodes: readonly Node<State>[],
  edges: readonly (readonly [from: number, to: number])[],
  reached: (state: State) => boolean,
): number | undefined {
  const predecessors: number[][] = nodes.map(() => []);
  for (const [from, to] of edges) predecessors[to]!.push(from);
  const leadsThere = nodes.map(({ state }) => reached(state));
  const queue = nodes.filter(({ index }) => leadsThere[index]).map(({ index }) => index);
  for (const index of queue) {
    for (const predecessor of predecessors[index]!) {
      if (leadsThere[predecessor]) continue;
      leadsThere[predecessor] = true;
      queue.push(predecessor);
    }
  }
  const stuck = leadsThere.indexOf(false);
  return stuck === -1 ? undefined : stuck;
}
