// `npm run bench -- --pairs` compares one receiver and one worker with two of each, in front of the same servers.
import { join } from 'node:path';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startFleet, type Fleet } from '../../harness/fleet.ts';
import type { TargetProject } from '../../harness/projects.ts';
import type { World } from '@hqrelay/testing/world';
import { startGenerator, startSink, type Generator, type Sink } from '../children.ts';
import { prepare, type PipelineOptions } from '../pipelines.ts';
import type { RateLine } from '../rates/site.ts';
import { reached } from '../round.ts';
import { startCost } from '../start-cost.ts';
import { pairLines, type FleetFigures, type PairsRound } from './pair-lines.ts';

const plans = {
  full: { rounds: 3, warmUpSeconds: 20, seconds: 10 },
  quick: { rounds: 1, warmUpSeconds: 3, seconds: 4 },
};
/** Of each pair, for its costs: two cores accept and deliver twice as many without being full. */
const perSecondEach = 400;
/** Half of the usual connections at each of two receivers. */
const connectionsEach = 32;

type Site = PipelineOptions & {
  world: World;
  project: TargetProject;
  sink: Sink;
  generators: readonly Generator[];
  warmUpSeconds: number;
  seconds: number;
};

export async function measurePairs(
  services: DurableServices,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<RateLine[]> {
  const plan = quick ? plans.quick : plans.full;
  const sink = await startSink();
  const generators = [startGenerator(), startGenerator()];
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const options = { services, apps, sinkUrl: sink.url };
  const { world, project } = await prepare(options);
  try {
    const site = { ...options, ...plan, world, project, sink, generators };
    const rounds: PairsRound[] = [];
    for (let round = 0; round < plan.rounds; round += 1) {
      const measured: Partial<PairsRound> = {};
      // Each is first in turn.
      for (const name of round % 2 === 0 ? (['one', 'two'] as const) : (['two', 'one'] as const)) {
        measured[name] = await measureFleet(site, name === 'one' ? 1 : 2);
        say(`round ${round + 1}, ${name}: ${JSON.stringify(measured[name])}`);
      }
      rounds.push(measured as PairsRound);
    }
    return pairLines(rounds, perSecondEach);
  } finally {
    for (const child of [sink, ...generators]) child.end();
    await world.close();
  }
}

/**
 * The costs at the same rate for each pair, then the shares as fast as the connections allow. The first webhooks, as fast as well,
 * warm every process up: each of two receivers gets half of them.
 */
async function measureFleet(site: Site, pairs: number): Promise<FleetFigures> {
  const { services, sink, apps, seconds, warmUpSeconds } = site;
  const fleet = await startFleet({
    from: apps,
    receivers: pairs,
    workers: pairs,
    env: site.world.env,
    logFolder: services.folder,
  });
  const send = (load: { seconds: number; perSecond?: number }) => sendAndDeliver(site, fleet, load);
  try {
    await sink.reset();
    await send({ seconds: warmUpSeconds });
    const pids = [...fleet.receivers, ...fleet.workers].map((app) => [app.name, app.pid()] as const);
    const cost = startCost(services, Object.fromEntries(pids));
    const sent = sum(await send({ seconds, perSecond: perSecondEach }));
    const costs = cost(sent);
    const before = await delivered(fleet);
    const accepted = await send({ seconds });
    const after = await delivered(fleet);
    return {
      perSecond: sent / seconds,
      costs,
      accepted,
      delivered: after.map((count, index) => count - (before[index] ?? 0)),
    };
  } finally {
    await fleet.end();
  }
}

/** Sends to each receiver, as a balancer does, and waits until all is delivered. Returns how many each has accepted. */
async function sendAndDeliver(
  { generators, project, sink }: Site,
  { receivers }: Fleet,
  load: { seconds: number; perSecond?: number },
): Promise<number[]> {
  const before = await sink.count();
  const results = await Promise.all(
    receivers.map(({ url }, index) =>
      generators[index]!.run({
        url: `${url}/v1/webhooks/${project.id}`,
        secret: project.secret,
        connections: connectionsEach,
        ...load,
      }),
    ),
  );
  const failed = sum(results.map(({ refused, errors }) => refused + errors));
  if (failed > 0) throw new Error(`${failed} requests were not accepted`);
  const accepted = results.map((result) => result.accepted);
  await reached(sink, before + sum(accepted));
  return accepted;
}

/** How many attempts each worker has delivered since its start. */
async function delivered({ workers }: Fleet): Promise<number[]> {
  return Promise.all(
    workers.map(async ({ url }) => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const count = /^hqrelay_delivery_attempts_total\{outcome="delivered"\} (\d+)$/m.exec(metrics)?.[1];
      if (count === undefined) throw new Error('the metrics of a worker have no delivered attempts');
      return Number(count);
    }),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
