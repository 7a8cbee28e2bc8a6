import { waitFor } from '@hqrelay/testing/wait-for';
import type { DurableServices } from '../harness/durable-services.ts';
import type { Generator, GeneratorResult, Sink } from './children.ts';
import { fillBacklog } from './backlog.ts';
import { countRows, type Pipeline, type Rows, type Stage } from './pipelines.ts';
import { peakMemoryMib } from '../harness/process-cost.ts';
import { startCost } from './start-cost.ts';

/** The figures of one pipeline in one round, by name. */
export type Measured = Record<string, number>;

export type RoundOptions = {
  services: DurableServices;
  sink: Sink;
  generator: Generator;
  warmUpSeconds: number;
  seconds: number;
  connections: number;
};

const waitMsMax = 90_000;
/** V8 optimizes the code of a worker for as many: each of the first thousands costs twice as much. */
const warmDeliveries = 20_000;

/** Accepts without a worker, drains the backlog, then does both at once. The processes start cold, and each phase warms them up. */
export async function measureRound(pipeline: Pipeline, options: RoundOptions): Promise<Measured> {
  const since = Date.now();
  await options.sink.reset();
  const stages: Stage[] = [];
  const started = async (stage: Promise<Stage>) => {
    stages.push(await stage);
    return stages.at(-1) as Stage;
  };
  try {
    const receiver = await started(pipeline.startReceiver());
    const accepting = await accept(pipeline, receiver, options);
    const half = await acceptHalf(pipeline, accepting.measured['accepted/s'], options);
    const backlog = accepting.sent + half.sent;
    const worker = await started(pipeline.startWorker());
    const draining = await drain(worker, backlog, options);
    const both = await acceptAndDrain(pipeline, { receiver, worker }, backlog, options);
    const sent = backlog + both.sent;
    await untilRecorded(pipeline, since, { webhooks: sent, attempts: sent });
    return {
      ...accepting.measured,
      ...half.measured,
      ...draining,
      ...both.measured,
      'receiver, peak MiB': peakMemoryMib(receiver.pid()),
      'worker, peak MiB': peakMemoryMib(worker.pid()),
    };
  } finally {
    await Promise.all(stages.map((stage) => stage.stop()));
  }
}

/** Drains a backlog that no receiver has accepted, by a worker that begins cold. */
export async function measureDrain(
  pipeline: Pipeline,
  options: RoundOptions,
  backlog: number,
): Promise<Measured> {
  const since = Date.now();
  await options.sink.reset();
  await fillBacklog(pipeline, backlog);
  const worker = await pipeline.startWorker();
  try {
    const draining = await drain(worker, backlog, options);
    await untilRecorded(pipeline, since, { webhooks: 0, attempts: backlog });
    return { ...draining, 'worker, peak MiB': peakMemoryMib(worker.pid()) };
  } finally {
    await worker.stop();
  }
}

/** Sends as fast as the connections allow, first to warm up. */
export async function accept(pipeline: Pipeline, receiver: Stage, options: RoundOptions) {
  const warm = await generate(pipeline, options, options.warmUpSeconds);
  const cost = startCost(options.services, { receiver: receiver.pid() });
  const result = await generate(pipeline, options, options.seconds);
  return {
    sent: warm.accepted + result.accepted,
    measured: {
      'accepted/s': result.accepted / result.seconds,
      'answer p50 ms': result.p50Ms,
      'answer p99 ms': result.p99Ms,
      ...named('accepting', cost(result.accepted)),
    },
  };
}

/** Sends half as many a second as the pipeline accepts. */
async function acceptHalf(pipeline: Pipeline, accepted: number, options: RoundOptions) {
  const result = await generate(pipeline, options, options.seconds, accepted / 2);
  return {
    sent: result.accepted,
    measured: { 'half load, p50 ms': result.p50Ms, 'half load, p99 ms': result.p99Ms },
  };
}

/** Measured from a warm worker until 95 % is delivered: at the start and the end it is slower. */
export async function drain(worker: Stage, sent: number, options: RoundOptions): Promise<Measured> {
  const { sink } = options;
  await reached(sink, Math.min(sent * 0.3, warmDeliveries));
  const cost = startCost(options.services, { worker: worker.pid() });
  const startedAt = performance.now();
  const first = await sink.count();
  await reached(sink, sent * 0.95);
  const delivered = (await sink.count()) - first;
  const seconds = (performance.now() - startedAt) / 1_000;
  const measured = { 'drained/s': delivered / seconds, ...named('draining', cost(delivered)) };
  await reached(sink, sent);
  return measured;
}

/** Accepts while the worker drains: the accepted webhooks, over the time until the last of them was delivered. */
async function acceptAndDrain(
  pipeline: Pipeline,
  { receiver, worker }: { receiver: Stage; worker: Stage },
  sentBefore: number,
  options: RoundOptions,
) {
  const cost = startCost(options.services, { receiver: receiver.pid(), worker: worker.pid() });
  const startedAt = performance.now();
  const result = await generate(pipeline, options, options.seconds);
  await reached(options.sink, sentBefore + result.accepted);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    sent: result.accepted,
    measured: { 'both/s': result.accepted / seconds, ...named('both', cost(result.accepted)) },
  };
}

async function generate(
  { name, url, secret, traffic }: Pipeline,
  { generator, connections }: RoundOptions,
  seconds: number,
  perSecond?: number,
): Promise<GeneratorResult> {
  const result = await generator.run({
    url,
    secret,
    connections,
    seconds,
    ...(perSecond !== undefined && { perSecond: Math.round(perSecond) }),
    ...(traffic && { traffic }),
  });
  if (result.refused + result.errors > 0) {
    throw new Error(`${name}: ${result.refused} answers were no 2xx, and ${result.errors} requests failed`);
  }
  return result;
}

function named(phase: string, costs: Record<string, number>): Measured {
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [`${phase}, ${name} µs`, cost]));
}

export async function reached(sink: Sink, count: number): Promise<void> {
  await waitFor(`${count} requests at the sink`, async () => (await sink.count()) >= count, {
    timeoutMs: waitMsMax,
    everyMs: 20,
  });
}

/** A pipeline that does not commit its rows would look fast, so their number is checked. */
export async function untilRecorded(pipeline: Pipeline, since: number, expected: Rows): Promise<void> {
  await waitFor(
    `${expected.webhooks} webhooks and ${expected.attempts} attempts in the tables of the ${pipeline.name} pipeline`,
    async () => {
      const { webhooks, attempts } = await countRows(pipeline.world, since);
      return webhooks >= expected.webhooks && attempts >= expected.attempts;
    },
    { timeoutMs: waitMsMax, everyMs: 250 },
  );
}
