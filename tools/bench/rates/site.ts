import { join } from 'node:path';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { World } from '@hqrelay/testing/world';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { memoryMib, peakMemoryMib } from '../../harness/process-cost.ts';
import { startGenerator, startSink, type GeneratorResult, type Order, type Sink } from '../children.ts';
import { countRows } from '../pipelines.ts';
import { createProduct } from '../product-pipeline.ts';

export type Load = Pick<Order, 'perSecond' | 'seconds' | 'connections' | 'bodyBytes'>;

/** What each process holds, and has held at most, MiB. */
export type Memory = { receiver: number; worker: number; receiverPeak: number; workerPeak: number };

/** One receiver and one worker of the product, under load at a rate. */
export type RatedSite = {
  sink: Sink;
  send: (load: Load) => Promise<GeneratorResult>;
  /** Webhooks that were accepted and have not reached the endpoint. */
  backlog: () => Promise<number>;
  /** Waits until as many webhooks as were accepted have reached the endpoint and have their rows. Returns the seconds it took. */
  drain: () => Promise<number>;
  /** How many webhooks that were answered 202 have no delivered attempt. */
  undelivered: () => Promise<number>;
  memory: () => Memory;
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
  const accepted: string[] = [];
  const backlog = async () => Math.max(0, accepted.length - (await sink.count()));
  const isDrained = async () => {
    const { webhooks, attempts } = await countRows(pipeline.world);
    return (await backlog()) <= 0 && webhooks >= accepted.length && attempts >= accepted.length;
  };
  try {
    return await work({
      sink,
      send: async (load) => {
        const { url, secret } = pipeline;
        const result = await generator.run({ url, secret, listIds: true, ...load });
        for (const id of result.ids) accepted.push(id);
        return result;
      },
      backlog,
      drain: async () => {
        const startedAt = performance.now();
        await waitFor('every delivery and its rows', isDrained, { timeoutMs: drainMsMax, everyMs: 250 });
        return (performance.now() - startedAt) / 1_000;
      },
      undelivered: () => countUndelivered(pipeline.world, accepted),
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

async function countUndelivered({ sql }: World, ids: readonly string[]): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from unnest($1::uuid[]) as accepted (id) where not exists (
       select from delivery_attempts where webhook_log_id = accepted.id and status = 'delivered')`,
    [ids],
  );
  return rows[0]?.count ?? Number.NaN;
}
