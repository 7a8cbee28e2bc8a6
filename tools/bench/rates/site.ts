import { join } from 'node:path';
import { waitFor } from '@hqrelay/testing/wait-for';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startGenerator, startSink, type GeneratorResult } from '../children.ts';
import { countRows, createProduct } from '../pipelines.ts';
import { memoryMib, peakMemoryMib } from '../../harness/process-cost.ts';

export type Rate = { perSecond: number; seconds: number; connections: number };

/** One receiver and one worker of the product, under load at a rate. */
export type RatedSite = {
  send: (rate: Rate) => Promise<GeneratorResult>;
  /** Webhooks that were accepted and have not reached the endpoint. */
  backlog: () => Promise<number>;
  /** Waits until every accepted webhook was delivered and has its rows. Returns the seconds it took. */
  drain: () => Promise<number>;
  /** What each process holds, and has held at most, MiB. */
  memory: () => { receiver: number; worker: number; receiverPeak: number; workerPeak: number };
};

/** A figure, its bound in words, and whether it holds. */
export type RateLine = { figure: string; value: string; bound: string; holds: boolean };

const drainMsMax = 300_000;

/** Runs `work` against processes of its own. */
export async function withRatedSite(
  services: DurableServices,
  work: (site: RatedSite) => Promise<RateLine[]>,
): Promise<RateLine[]> {
  const [sink, generator] = [await startSink(), startGenerator()];
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const pipeline = await createProduct({ services, apps, sinkUrl: sink.url });
  const receiver = await pipeline.startReceiver();
  const worker = await pipeline.startWorker();
  let accepted = 0;
  // The generator does not count requests that were in flight when it ended.
  const backlog = async () => Math.max(0, accepted - (await sink.count()));
  const isDrained = async () => {
    const { webhooks, attempts } = await countRows(pipeline.world);
    return (await backlog()) <= 0 && webhooks >= accepted && attempts >= accepted;
  };
  try {
    return await work({
      send: async (rate) => {
        const result = await generator.run({ url: pipeline.url, secret: pipeline.secret, ...rate });
        accepted += result.accepted;
        return result;
      },
      backlog,
      drain: async () => {
        const startedAt = performance.now();
        await waitFor('every delivery and its rows', isDrained, { timeoutMs: drainMsMax, everyMs: 250 });
        return (performance.now() - startedAt) / 1_000;
      },
      memory: () => ({
        receiver: memoryMib(receiver.pid()),
        worker: memoryMib(worker.pid()),
        receiverPeak: peakMemoryMib(receiver.pid()),
        workerPeak: peakMemoryMib(worker.pid()),
      }),
    });
  } finally {
    await Promise.all([receiver.stop(), worker.stop()]);
    await pipeline.close();
    sink.end();
    generator.end();
  }
}

/** Nothing was refused, and no request failed. */
export function nothingRefused({ refused, errors }: GeneratorResult): RateLine {
  return {
    figure: 'refused, and failed requests',
    value: `${refused}, ${errors}`,
    bound: '0, 0',
    holds: refused + errors === 0,
  };
}

export function atMost(figure: string, value: number, max: number, unit: string): RateLine {
  return { figure, value: `${Math.round(value)} ${unit}`, bound: `≤ ${max} ${unit}`, holds: value <= max };
}

/** A figure without a bound. */
export function shown(figure: string, value: string): RateLine {
  return { figure, value, bound: '', holds: true };
}
