import { describe, expect, it } from 'vitest';
import { describeExploration, explore, type Model } from './explore.ts';

/** Two jugs of 3 and 5 litres, which can be filled, emptied and poured into each other. */
type Jugs = { small: number; large: number };

function jugs(forbiddenLitres: number): Model<Jugs> {
  return {
    initial: { small: 0, large: 0 },
    steps: function* ({ small, large }) {
      yield { label: 'fill small', state: { small: 3, large } };
      yield { label: 'fill large', state: { small, large: 5 } };
      yield { label: 'empty small', state: { small: 0, large } };
      yield { label: 'empty large', state: { small, large: 0 } };
      const toLarge = Math.min(small, 5 - large);
      yield { label: 'small into large', state: { small: small - toLarge, large: large + toLarge } };
      const toSmall = Math.min(large, 3 - small);
      yield { label: 'large into small', state: { small: small + toSmall, large: large - toSmall } };
    },
    violations: function* ({ large }) {
      if (large === forbiddenLitres) yield `the large jug holds ${forbiddenLitres} litres`;
    },
  };
}

describe('explore', () => {
  it('explore returns the shortest path to a state that breaks an invariant', () => {
    const exploration = explore(jugs(4));
    expect(describeExploration(exploration)).toBe(
      [
        'the large jug holds 4 litres:',
        '  1. fill large',
        '  2. large into small',
        '  3. empty small',
        '  4. large into small',
        '  5. fill large',
        '  6. large into small',
      ].join('\n'),
    );
  });

  it('explore visits every reachable state once when no invariant is broken', () => {
    expect(explore(jugs(6))).toEqual({ kind: 'holds', states: 16 });
  });

  it('explore finds the nearest state from which the goal cannot be reached', () => {
    const walk: Model<string> = {
      initial: 'start',
      steps: function* (state) {
        if (state === 'start')
          yield* [
            { label: 'turn left', state: 'loop' },
            { label: 'turn right', state: 'home' },
          ];
        if (state === 'loop') yield { label: 'circle', state: 'loop' };
      },
      violations: () => [],
      alwaysReachable: { sentence: 'there is no way home', reached: (state) => state === 'home' },
    };
    expect(explore(walk)).toEqual({
      kind: 'broken',
      sentence: 'there is no way home',
      path: ['turn left'],
      states: 3,
    });
  });

  it('explore refuses a model with more states than it may visit', () => {
    const counting: Model<number> = {
      initial: 0,
      steps: (count) => [{ label: 'add one', state: count + 1 }],
      violations: () => [],
    };
    expect(() => explore(counting, { statesMax: 100 })).toThrow(RangeError);
  });
});
