import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from '@hqrelay/flow/with-timeout';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { AppSource } from '@hqrelay/services/app-process';
import type { DurableServices } from '../harness/durable-services.ts';
import { Load } from '../harness/load.ts';
import type { InjectedFault } from './faults/injected-fault.ts';
import { balance, type Books } from './outcome/books.ts';
import { figuresOf, type Figures } from './outcome/figures.ts';
import { acceptedMin, evidenceOf, judge, type Outcome } from './outcome/judge.ts';
import { readLedger, readProgress } from './outcome/ledger.ts';
import { countReady, queuesOfLater, readRemains } from './outcome/remains.ts';
import type { Fault, Row, Stage } from './row.ts';
import { createSite, preloadPath, type Site } from './site.ts';

export type RowResult = Books &
  Figures & {
    row: Row;
    unavailable: number;
    reset: number;
    refused: number;
    /** What the fault hit in flight. */
    hit: string;
    tookMs: number;
    outcome: Outcome;
    logFolder: string;
  };

export type RunOptions = {
  services: DurableServices;
  apps: AppSource;
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
/** For the broker to requeue what a stopped worker had in flight. */
const giveBackMs = 1_500;

/** Runs one row of the matrix from its own apps and database to its outcome. */
export async function runRow(row: Row, options: RunOptions): Promise<RowResult> {
  const startedAt = performance.now();
  const size = options.brief ? 'brief' : 'whole';
  const deadline = startedAt + (row.withinMs ?? options.withinMs);
  const logFolder = join(options.services.folder, `${row.name}-${Math.round(startedAt)}`);
  mkdirSync(logFolder);
  const site = await createSite({
    services: options.services,
    apps: options.apps,
    proxied: row.proxied ?? [],
    workersProxied: row.workersProxied ?? false,
    workerPreload: row.workerPreload === undefined ? [] : [preloadPath(row.workerPreload)],
    everyEnd: !options.brief && row.everyEnd !== false,
    fault: options.fault,
    logFolder,
  });
  const load = new Load(site.projects, site.receivers);
  const faults: Fault[] = [];
  const reasons: string[] = [];
  try {
    load.start(row.perSecond ?? 150);
    options.say('load is on');
    await wait(warmUpMs[size]);
    await within(deadline - closingMs, row.run(site, createStage(site, load, faults, options))).catch(
      (error: unknown) => reasons.push(`the fault went wrong: ${messageOf(error)}`),
    );
    await wait(afterFaultMs[size]);
    await waitFor('enough 202s', () => load.accepted >= acceptedMin[size], {
      timeoutMs: Math.max(0, deadline - closingMs - performance.now()),
    }).catch(() => {});
    load.stop();
    options.say(`${load.accepted} accepted, draining`);
    const isDrained = await drained(site, load, deadline - closingMs);
    const outstanding = load.outstanding;
    load.close();
    await Promise.all([...site.receivers, ...site.workers].map((app) => app.end()));
    return await concluded(row, options, {
      site,
      load,
      faults,
      reasons,
      startedAt,
      logFolder,
      left: isDrained ? undefined : outstanding,
    });
  } finally {
    load.close();
    await site.close();
  }
}

function createStage(site: Site, load: Load, faults: Fault[], { brief, say }: RunOptions): Stage {
  const deliveries = () => [...site.endpoints.values()].reduce((sum, each) => sum + each.inFlight(), 0);
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

/** Whether every webhook was answered 202 and nothing waits, except for a time after the end of the row. */
async function drained(site: Site, load: Load, deadline: number): Promise<boolean> {
  const owedBy = new Map(site.projects.map((project) => [project.id, project.endpointIds.length]));
  const isDrained = async () => {
    if (load.outstanding > 0) return false;
    const owed = load.webhooks.reduce((sum, { projectId }) => sum + (owedBy.get(projectId) ?? 0), 0);
    const { ended, outbox } = await readProgress(site.world);
    if (outbox > 0) return false;
    const { soon, late } = await countReady(site.world.rabbitmqUrl);
    return soon === 0 && ended + late >= owed;
  };
  const timeoutMs = Math.max(0, deadline - performance.now());
  return waitFor('everything to be drained', isDrained, { timeoutMs, everyMs: 250 }).then(
    () => true,
    () => false,
  );
}

async function concluded(
  row: Row,
  options: RunOptions,
  run: {
    site: Site;
    load: Load;
    faults: Fault[];
    reasons: string[];
    startedAt: number;
    logFolder: string;
    /** Where time was up before all was drained: webhooks without a 202. */
    left: number | undefined;
  },
): Promise<RowResult> {
  const { site, load, faults } = run;
  const common = {
    webhooks: load.webhooks,
    answers: load.answers,
    owedBy: new Map(site.projects.map((project) => [project.id, project.endpointIds])),
    endpoints: site.endpoints,
    faults,
  };
  // With --keep-logs this shows what was slow, and when.
  writeFileSync(join(run.logFolder, 'answers.json'), JSON.stringify({ faults, answers: load.answers }));
  if (run.left !== undefined) await wait(giveBackMs);
  // A fault that went wrong may have left a server stopped, and the books need all of them.
  await options.services.restore();
  const remains = await readRemains(site.world);
  const books = balance({
    ...common,
    ledger: await readLedger(site.world, remains.spilled),
    remains,
    duplicatesBecause: row.duplicatesBecause,
  });
  const figures = figuresOf(common);
  const evidence = evidenceOf(load.answers, faults, site, books.duplicates);
  const hit = row.hit(evidence);
  const reasons = [...run.reasons];
  const left = [...remains.places].filter(([place]) => !queuesOfLater.includes(place));
  if (run.left !== undefined && run.left + left.length > 0) {
    const places = left.map(([place, count]) => `, ${count} in ${place}`).join('');
    reasons.push(`not drained when time was up: ${run.left} not answered 202${places}`);
  }
  return {
    ...books,
    ...figures,
    row,
    unavailable: evidence.unavailable,
    reset: evidence.reset,
    refused: evidence.refused,
    hit: hit ?? 'nothing',
    tookMs: performance.now() - run.startedAt,
    logFolder: run.logFolder,
    outcome: judge({
      row,
      brief: options.brief,
      answers: load.answers,
      faults,
      books,
      figures,
      evidence,
      hit,
      reasons,
    }),
  };
}

function within<T>(deadline: number, work: Promise<T>): Promise<T> {
  return withTimeout(work, Math.max(0, deadline - performance.now()), 'time was up');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
