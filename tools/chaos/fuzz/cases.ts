import { garbage, mutated, pipelined, stalled, truncated } from './cases/broken.ts';
import { headers } from './cases/headers.ts';
import { routes } from './cases/routes.ts';
import { signed } from './cases/signed.ts';
import { smuggling } from './cases/smuggling.ts';
import type { CaseMaker, FuzzCase, FuzzTarget } from './fuzz-case.ts';
import { randomOf } from './random.ts';

/** The families of cases, each as often as it stands here. A stalled case takes seconds, so that it is rare. */
const makers: readonly CaseMaker[] = [
  signed,
  signed,
  routes,
  routes,
  smuggling,
  smuggling,
  headers,
  mutated,
  mutated,
  mutated,
  truncated,
  garbage,
  pipelined,
];
const stalledEvery = 500;

/** The case with this number, which is the same for the same seed and project. */
export function fuzzCase(seed: number, number: number, target: FuzzTarget): { name: string; sent: FuzzCase } {
  const random = randomOf(seed, number);
  const maker = number % stalledEvery === stalledEvery - 1 ? stalled : random.pick(makers);
  return { name: maker.name, sent: maker.make(random, target) };
}
