import { join } from 'node:path';
import { copyBuiltApps } from '../harness/app-copy.ts';
import type { DurableServices } from '../harness/durable-services.ts';
import { createBare } from './bare-pipeline.ts';
import type { Pipeline, PipelineName } from './pipelines.ts';
import { createProduct } from './product-pipeline.ts';
import { measureDrain, measureRound, type Measured, type RoundOptions } from './round.ts';

export type ThroughputOptions = RoundOptions & {
  rounds: number;
  /** Measures draining alone, from a backlog of so many webhooks that no receiver has accepted. */
  drainOnly: number | undefined;
  say: (line: string) => void;
};

/** Both pipelines in each round. */
export async function measureThroughput(
  options: ThroughputOptions,
): Promise<Record<PipelineName, Measured>[]> {
  const { drainOnly, say } = options;
  const rounds: Record<PipelineName, Measured>[] = [];
  const pipelines = await createPipelines(options.services, options.sink.url);
  for (let number = 1; number <= options.rounds; number += 1) {
    const measured: Partial<Record<PipelineName, Measured>> = {};
    // Each pipeline finds the stores as the other left them, so they take turns at being first.
    for (const pipeline of number % 2 === 1 ? pipelines : pipelines.toReversed()) {
      const figures = drainOnly
        ? await measureDrain(pipeline, options, drainOnly)
        : await measureRound(pipeline, options);
      measured[pipeline.name] = figures;
      const rates = Object.entries(figures)
        .filter(([name]) => name.endsWith('/s'))
        .map(([name, rate]) => `${name} ${Math.round(rate)}`);
      say(`round ${number}, ${pipeline.name}: ${rates.join(', ')}`);
    }
    rounds.push(measured as Record<PipelineName, Measured>);
  }
  return rounds;
}

async function createPipelines(services: DurableServices, sinkUrl: string): Promise<Pipeline[]> {
  const options = { services, apps: copyBuiltApps(join(services.folder, 'apps')), sinkUrl };
  return [await createProduct(options), await createBare(options)];
}
