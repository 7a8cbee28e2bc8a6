// `npm run bench -- --flat` compares the product in an empty system with the same in a full one: audit tables with millions of
// rows, a long queue, and many projects and endpoints.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { peakMemoryMib } from '../../harness/process-cost.ts';
import { connect } from 'amqplib';
import { fillBacklog } from '../backlog.ts';
import { startGenerator, startSink } from '../children.ts';
import type { Pipeline, Stage } from '../pipelines.ts';
import { createProduct } from '../product-pipeline.ts';
import type { RateLine } from '../rates/site.ts';
import { accept, drain, untilRecorded, type Measured, type RoundOptions } from '../round.ts';
import { flatLines, type FlatRound } from './flat-lines.ts';
import { openFullSystem } from './full-system.ts';

/** A pipeline, and the servers that it runs on. */
export type System = { pipeline: Pipeline; services: DurableServices };

export type FlatOptions = {
  quick: boolean;
  /** In each audit table. */
  rows: number;
  folder: string | undefined;
  say: (line: string) => void;
};

/** Of the Postgres of both systems: the tables fit into memory, as on a machine for so many webhooks. */
export const flatPostgresSettings = ['shared_buffers=2GB', 'max_wal_size=16GB', 'maintenance_work_mem=512MB'];

const plans = {
  full: { rounds: 4, warmUpSeconds: 12, seconds: 8, waiting: 500_000, projects: 1_000, endpointsEach: 5 },
  quick: { rounds: 1, warmUpSeconds: 2, seconds: 3, waiting: 20_000, projects: 50, endpointsEach: 5 },
};
const connections = 64;

export async function measureFlat(services: DurableServices, options: FlatOptions): Promise<RateLine[]> {
  const { say, rows: webhooks, folder } = options;
  const plan = options.quick ? plans.quick : plans.full;
  const [sink, generator] = [await startSink({ addresses: plan.projects }), startGenerator()];
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const opened: System[] = [];
  try {
    const full = await openFullSystem({
      ...plan,
      webhooks,
      services,
      apps,
      sink,
      folder,
      say,
      postgresSettings: flatPostgresSettings,
    });
    opened.push(full);
    const empty = { pipeline: await createProduct({ services, apps, sinkUrl: sink.url }), services };
    opened.push(empty);
    await fillBacklog(full.pipeline, plan.waiting);
    say(`${plan.waiting} webhooks of ${plan.projects * plan.endpointsEach} endpoints wait`);
    const round = { ...plan, sink, generator, connections };
    const rounds = await measureRounds(plan.rounds, { empty, full }, round, say);
    const waiting = await countWaiting(full.pipeline);
    return flatLines(rounds, { webhooks, ...plan, waitingAtEnd: waiting });
  } finally {
    sink.end();
    generator.end();
    for (const { pipeline } of opened) await pipeline.close();
  }
}

/** Each system is first in turn. */
async function measureRounds(
  count: number,
  { empty, full }: Record<keyof FlatRound, System>,
  options: Omit<RoundOptions, 'services'>,
  say: (line: string) => void,
): Promise<FlatRound[]> {
  const rounds: FlatRound[] = [];
  for (let number = 1; number <= count; number += 1) {
    const isFullFirst = number % 2 === 0;
    const first = await measureSystem(isFullFirst ? full : empty, options);
    const second = await measureSystem(isFullFirst ? empty : full, options);
    rounds.push(isFullFirst ? { full: first, empty: second } : { empty: first, full: second });
    say(`round ${number}: ${JSON.stringify(rounds.at(-1))}`);
  }
  return rounds;
}

/** Accepts without a worker, then delivers as many as were accepted: the queue of a full system stays as long as it was. */
async function measureSystem(
  { pipeline, services }: System,
  shared: Omit<RoundOptions, 'services'>,
): Promise<Measured> {
  const options = { ...shared, services };
  const since = Date.now();
  const stages: Stage[] = [];
  await options.sink.reset();
  try {
    const receiver = await pipeline.startReceiver();
    stages.push(receiver);
    const { sent, measured } = await accept(pipeline, receiver, options);
    const worker = await pipeline.startWorker();
    stages.push(worker);
    const draining = await drain(worker, sent, options);
    const memory = {
      'receiver, peak MiB': peakMemoryMib(receiver.pid()),
      'worker, peak MiB': peakMemoryMib(worker.pid()),
    };
    await untilRecorded(pipeline, since, { webhooks: sent, attempts: sent });
    return { ...measured, ...draining, ...memory };
  } finally {
    await Promise.all(stages.map((stage) => stage.stop()));
  }
}

async function countWaiting({ world, work }: Pipeline): Promise<number> {
  const connection = await connect(world.rabbitmqUrl);
  const channel = await connection.createChannel();
  const { messageCount } = await channel.checkQueue(work.routingKey);
  await connection.close();
  return messageCount;
}
