// `npm run bench -- --order` compares an ordered endpoint, over ten thousand keys, with an unordered one.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startGenerator, startSink } from '../children.ts';
import { createProduct, type Pipeline } from '../pipelines.ts';
import { measureRound, type Measured } from '../round.ts';
import { spreadOf, type Spread } from '../summary.ts';

/** A figure of the unordered endpoint, and of the ordered one relative to that. */
export type OrderLine = { figure: string; unordered: Spread; ordered: Spread; ratio: number };

const variants = ['unordered', 'ordered'] as const;
type Variant = (typeof variants)[number];

/** The generator sends it with ten thousand values. */
const orderingKey = 'header:X-Bench-Key';
const plans = {
  full: { rounds: 3, warmUpSeconds: 3, seconds: 6, connections: 64 },
  quick: { rounds: 1, warmUpSeconds: 2, seconds: 3, connections: 64 },
};
const figures = [
  'accepted/s',
  'accepting, receiver µs',
  'drained/s',
  'draining, worker µs',
  'both/s',
  'both, receiver µs',
  'both, worker µs',
];

export async function measureOrder(
  services: DurableServices,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<OrderLine[]> {
  const plan = quick ? plans.quick : plans.full;
  const [sink, generator] = [await startSink(), startGenerator()];
  const shared = { services, apps: copyBuiltApps(join(services.folder, 'apps')), sinkUrl: sink.url };
  const pipelines = new Map<Variant, Pipeline>();
  try {
    pipelines.set('unordered', await createProduct(shared));
    pipelines.set('ordered', await createProduct({ ...shared, orderingKey }));
    const rounds: Record<Variant, Measured>[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      const measured = {} as Record<Variant, Measured>;
      // Each is first in turn.
      for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
        const options = { services, sink, generator, ...plan };
        measured[variant] = await measureRound(pipelines.get(variant)!, options);
        say(`round ${round + 1}, ${variant}: both/s ${Math.round(measured[variant]['both/s'] ?? 0)}`);
      }
      rounds.push(measured);
    }
    return figures.map((figure) => compare(rounds, figure));
  } finally {
    for (const each of [sink, generator]) each.end();
    for (const pipeline of pipelines.values()) await pipeline.close();
  }
}

function compare(rounds: readonly Record<Variant, Measured>[], figure: string): OrderLine {
  const of = (variant: Variant) => spreadOf(rounds.map((round) => round[variant][figure])) as Spread;
  const [unordered, ordered] = [of('unordered'), of('ordered')];
  return { figure, unordered, ordered, ratio: ordered.median / unordered.median };
}
