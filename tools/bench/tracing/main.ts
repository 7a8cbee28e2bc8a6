// `npm run bench -- --tracing` compares the product without traces, with them, and without them again: the difference between
// the two without is noise.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startGenerator, startSink } from '../children.ts';
import type { Pipeline } from '../pipelines.ts';
import { createProduct } from '../product-pipeline.ts';
import { measureRound, type Measured } from '../round.ts';
import { spreadOf, type Spread } from '../summary.ts';

/** A figure without traces, with them relative to that, and the ratio of the two measurements without. */
export type TracingLine = { figure: string; off: Spread; onToOff: number; offToOff: number };

const variants = ['off', 'on', 'off again'] as const;
type Variant = (typeof variants)[number];

const plans = {
  full: { rounds: 3, warmUpSeconds: 3, seconds: 4, connections: 64 },
  quick: { rounds: 1, warmUpSeconds: 2, seconds: 2, connections: 64 },
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

export async function measureTracing(
  services: DurableServices,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<TracingLine[]> {
  const plan = quick ? plans.quick : plans.full;
  const [sink, collector, generator] = [await startSink(), await startSink(), startGenerator()];
  const shared = { services, apps: copyBuiltApps(join(services.folder, 'apps')), sinkUrl: sink.url };
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin };
  const pipelines = new Map<Variant, Pipeline>();
  try {
    for (const variant of variants)
      pipelines.set(variant, await createProduct({ ...shared, env: variant === 'on' ? traced : {} }));
    const rounds: Record<Variant, Measured>[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      const measured = {} as Record<Variant, Measured>;
      // Each variant is first, second and third in turn.
      for (const index of variants.keys()) {
        const variant = variants[(round + index) % variants.length] as Variant;
        const before = await collector.count();
        measured[variant] = await measureRound(pipelines.get(variant)!, {
          services,
          sink,
          generator,
          ...plan,
        });
        const exported = (await collector.count()) - before;
        if (exported > 0 !== (variant === 'on')) throw new Error(`${variant}: ${exported} exports of spans`);
        say(`round ${round + 1}, ${variant}: accepted/s ${Math.round(measured[variant]['accepted/s'] ?? 0)}`);
      }
      rounds.push(measured);
    }
    return figures.map((figure) => compare(rounds, figure));
  } finally {
    for (const each of [sink, collector, generator]) each.end();
    for (const pipeline of pipelines.values()) await pipeline.close();
  }
}

function compare(rounds: readonly Record<Variant, Measured>[], figure: string): TracingLine {
  const of = (variant: Variant) => spreadOf(rounds.map((round) => round[variant][figure])) as Spread;
  const off = of('off');
  return {
    figure,
    off,
    onToOff: of('on').median / off.median,
    offToOff: of('off again').median / off.median,
  };
}
