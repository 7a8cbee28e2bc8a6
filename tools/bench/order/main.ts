// `npm run bench -- --order` compares an ordered endpoint, over ten thousand keys, with an unordered one, and with one that has a
// crowd: a million keys seen, and a hundred thousand webhooks that wait behind one of them.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startGenerator, startSink } from '../children.ts';
import type { Pipeline } from '../pipelines.ts';
import { createProduct } from '../product-pipeline.ts';
import { measureRound, type Measured } from '../round.ts';
import { spreadOf, type Spread } from '../summary.ts';
import { addCrowd } from './add-crowd.ts';

/** A figure of each variant, of the ordered one relative to the unordered, and of the crowded one relative to the ordered. */
export type OrderLine = Record<Variant, Spread> & {
  figure: string;
  orderedToUnordered: number;
  crowdedToOrdered: number;
};

const variants = ['unordered', 'ordered', 'crowded'] as const;
type Variant = (typeof variants)[number];

/** The generator sends it with ten thousand values. */
const orderingKey = 'header:X-Bench-Key';
const plans = {
  full: { rounds: 3, warmUpSeconds: 2, seconds: 4, connections: 64 },
  quick: { rounds: 1, warmUpSeconds: 2, seconds: 3, connections: 64 },
};
const crowd = { keysSeen: 1_000_000, waiting: 100_000 };
const figures = [
  'accepted/s',
  'accepting, receiver µs',
  'drained/s',
  'draining, worker µs',
  'both/s',
  'both, receiver µs',
  'both, worker µs',
  'both, Postgres µs',
  'receiver, peak MiB',
  'worker, peak MiB',
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
    const crowded = await createProduct({ ...shared, orderingKey });
    pipelines.set('crowded', crowded);
    await addCrowd(crowded, crowd);
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
  const [unordered, ordered, crowded] = [of('unordered'), of('ordered'), of('crowded')];
  return {
    figure,
    unordered,
    ordered,
    crowded,
    orderedToUnordered: ordered.median / unordered.median,
    crowdedToOrdered: crowded.median / ordered.median,
  };
}
