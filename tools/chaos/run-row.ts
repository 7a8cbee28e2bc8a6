import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { AppSource } from '@hqrelay/services/app-process';
import type { DurableServices } from '../harness/durable-services.ts';
import { Load } from '../harness/load.ts';
import type { InjectedFault } from './faults/injected-fault.ts';
import { conclude, type RowResult } from './outcome/conclude.ts';
import { acceptedMin } from './outcome/judge.ts';
import { readProgress } from './outcome/ledger.ts';
import { countReady } from './outcome/remains.ts';
import type { PreviousVersion } from './previous-version.ts';
import type { Fault, Row, Stage } from './row.ts';
import { createSite, deliveriesInFlight, preloadPath, type Site } from './site.ts';

export type RunOptions = {
  services: DurableServices;
  apps: AppSource;
  /** For rows that start with the previous version. */
  previous?: PreviousVersion | undefined;
  /** Few webhooks, and no time is judged: for machines that are busy with other tests. */
  brief: boolean;
  /** The whole row, ms. */
  withinMs: number;
  /** The guard that the apps run without. */
  fault?: InjectedFault;
  say: (line: string) => void;
};

/** Apps that have just started compile their code for seconds, on the cores of the servers. */
const warmUpMs = { brief: 1_200, whole: 5_000 };
const afterFaultMs = { brief: 1_200, whole: 2_500 };
/** For the end of the apps and for the books. */
const closingMs = 6_000;
/** Longer than a worker takes from a message to its POST, whichever store is unavailable. */
const quietMs = 8_000;

/** Runs one row of the matrix from its own apps and database to its outcome. */
export async function runRow(row: Row, options: RunOptions): Promise<RowResult> {
  const startedAt = performance.now();
  const deadline = startedAt + (row.withinMs ?? options.withinMs) - closingMs;
  const logFolder = join(options.services.folder, `${row.name}-${Math.round(startedAt)}`);
  mkdirSync(logFolder);
  const site = await createSiteFor(row, options, logFolder);
  const load = new Load(site.projects, site.receivers);
  const faults: Fault[] = [];
  const stage = createStage(site, load, faults, options);
  try {
    const reasons = await runUnderLoad(row, { site, stage, options, deadline });
    options.say(`${load.accepted} accepted, draining`);
    const isDrained = await drained(site, load, deadline);
    const notAccepted = isDrained ? undefined : load.outstanding;
    load.close();
    await site.endApps();
    const { brief } = options;
    return await conclude({ row, brief, site, load, faults, reasons, startedAt, logFolder, notAccepted });
  } finally {
    load.close();
    await site.close();
  }
}

function createSiteFor(row: Row, options: RunOptions, logFolder: string): Promise<Site> {
  if (row.startsPrevious && !options.previous) throw new Error(`${row.name} needs the previous version`);
  return createSite({
    services: options.services,
    apps: options.apps,
    ...(row.startsPrevious && { previous: options.previous }),
    ownServers: row.ownServers ?? [],
    proxied: row.proxied ?? [],
    workersProxied: row.workersProxied ?? false,
    workerPreload: row.workerPreload === undefined ? [] : [preloadPath(row.workerPreload)],
    everyEnd: !options.brief && row.everyEnd !== false,
    ordered: row.ordered ?? false,
    fault: options.fault,
    logFolder,
  });
}

/** Returns the problems found. */
async function runUnderLoad(
  row: Row,
  run: { site: Site; stage: Stage; options: RunOptions; deadline: number },
): Promise<string[]> {
  const { site, stage, options, deadline } = run;
  const { load } = stage;
  const size = options.brief ? 'brief' : 'whole';
  const reasons: string[] = [];
  load.start(row.perSecond ?? 150);
  options.say('load is on');
  await wait(warmUpMs[size]);
  await within(deadline, row.run(site, stage)).catch((error: unknown) => {
    reasons.push(`the fault went wrong: ${messageOf(error)}`);
  });
  await wait(afterFaultMs[size]);
  // A row that accepts too few does not count.
  await waitFor('enough 202s', () => load.accepted >= acceptedMin[size], {
    timeoutMs: Math.max(0, deadline - performance.now()),
  }).catch(() => {});
  load.stop();
  return reasons;
}

function createStage(site: Site, load: Load, faults: Fault[], { brief, say }: RunOptions): Stage {
  const deliveries = () => deliveriesInFlight(site);
  return {
    load,
    brief,
    wait: (ms) => wait(ms),
    fault: async (what, act, { inFlight = () => load.inFlight() > 0 && deliveries() > 0 } = {}) => {
      const giveUpAt = performance.now() + 3_000;
      while (!inFlight() && performance.now() < giveUpAt) await turn();
      const fault: Fault = {
        what,
        startedAt: performance.now(),
        endedAt: Infinity,
        requestsInFlight: load.inFlight(),
        deliveriesInFlight: deliveries(),
      };
      faults.push(fault);
      const work = act();
      say(`${what}; ${fault.requestsInFlight} requests and ${fault.deliveriesInFlight} deliveries in flight`);
      await work;
      fault.endedAt = performance.now();
      say(`  over after ${Math.round(fault.endedAt - fault.startedAt)} ms`);
    },
  };
}

/**
 * Whether every webhook was answered 202 and no delivery waits, except for a time after the end of the row. False when time is
 * up, and when no delivery has moved for `quietMs`: those that have not ended then are in no store that could deliver them.
 */
async function drained(site: Site, load: Load, deadline: number): Promise<boolean> {
  const owedBy = new Map(site.projects.map((project) => [project.id, project.endpointIds.length]));
  let isDrained = false;
  let endedBefore = -1;
  let quietSince = performance.now();
  const isOver = async () => {
    const owed = load.webhooks.reduce((sum, { projectId }) => sum + (owedBy.get(projectId) ?? 0), 0);
    const { ended, held, outbox } = await readProgress(site.world);
    const { soon, late } = await countReady(site.world.rabbitmqUrl);
    isDrained = load.outstanding + outbox + soon === 0 && ended + late >= owed;
    const moving = load.outstanding + outbox + soon + held + deliveriesInFlight(site);
    if (moving > 0 || ended !== endedBefore) quietSince = performance.now();
    endedBefore = ended;
    return isDrained || performance.now() - quietSince > quietMs;
  };
  const timeoutMs = Math.max(0, deadline - performance.now());
  // The wait fails where a store is still down; the row is then judged as not drained.
  await waitFor('everything to be drained', isOver, { timeoutMs, everyMs: 250 }).catch(() => {});
  return isDrained;
}

function within<T>(deadline: number, work: Promise<T>): Promise<T> {
  return withTimeout(work, Math.max(0, deadline - performance.now()), 'time was up');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
