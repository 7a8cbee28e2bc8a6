import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { AppSource } from './app.ts';
import { balance, type Books } from './books.ts';
import { figuresOf, type Figures } from './figures.ts';
import { readLedger, readProgress } from './ledger.ts';
import { Load, type Answer } from './load.ts';
import { countReady, readRemains } from './remains.ts';
import type { Evidence, Fault, Row, Stage } from './row.ts';
import type { ChaosServices } from './services.ts';
import { createSite, preloadPath, type Site } from './site.ts';

export type RowResult = Books &
  Figures & {
    row: Row;
    unavailable: number;
    reset: number;
    /** What the fault hit in flight. */
    hit: string;
    tookMs: number;
    verdict: { kind: 'green' } | { kind: 'red' | 'did not count'; reasons: string[] };
    logFolder: string;
  };

export type RunOptions = {
  services: ChaosServices;
  apps: AppSource;
  /** The books alone, of few webhooks, and no time is judged: for machines that are busy with other tests. */
  brief: boolean;
  /** The whole row, ms. */
  withinMs: number;
  say: (line: string) => void;
};

/** Webhooks answered 202 below which a row proves nothing. */
const acceptedMin = { brief: 300, whole: 1_000 };
const warmUpMs = { brief: 1_200, whole: 2_000 };
const afterFaultMs = { brief: 1_200, whole: 2_500 };
const slowestAnswerMsMax = 2_500;
/** The 99th percentile of answers from a second after a fault on; a busy machine may take thrice what it took before. */
const p99MsMax = 250;
const p99FactorMax = 3;
/** A machine that takes longer than this before any fault says nothing about times. */
const quietP99Ms = 100;
/** Answers 503 for each webhook, where no more than the instant of the fault can explain one. */
const refusedShareMax = 0.03;
/** For the end of the apps and for the books. */
const closingMs = 6_000;

/** Runs one row of the matrix from its own apps and database to its verdict. */
export async function runRow(row: Row, options: RunOptions): Promise<RowResult> {
  const startedAt = performance.now();
  const size = options.brief ? 'brief' : 'whole';
  const deadline = startedAt + options.withinMs;
  const logFolder = join(options.services.folder, `${row.name}-${Math.round(startedAt)}`);
  mkdirSync(logFolder);
  const site = await createSite({
    services: options.services,
    apps: options.apps,
    proxied: row.proxied ?? [],
    workerPreload: row.workerPreload === undefined ? [] : [preloadPath(row.workerPreload)],
    everyEnd: !options.brief && row.everyEnd !== false,
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
    await Promise.all([...site.receivers, ...site.workers].map((app) => app.stop()));
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

/** Whether every webhook was answered 202, and nothing waits for anything but a time that lies beyond the row. */
async function drained(site: Site, load: Load, deadline: number): Promise<boolean> {
  const owedBy = new Map(site.projects.map((project) => [project.id, project.endpointIds.length]));
  const isDrained = async () => {
    if (load.outstanding > 0) return false;
    const owed = load.webhooks.reduce((sum, { projectId }) => sum + (owedBy.get(projectId) ?? 0), 0);
    const { settled, outbox } = await readProgress(site.world);
    if (outbox > 0) return false;
    const { soon, late } = await countReady(site.world.rabbitmqUrl);
    return soon === 0 && settled + late >= owed;
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
  const { site, load, faults, reasons } = run;
  const common = {
    webhooks: load.webhooks,
    answers: load.answers,
    owedBy: new Map(site.projects.map((project) => [project.id, project.endpointIds])),
    endpoints: site.endpoints,
    faults,
  };
  const remains = await readRemains(site.world);
  const books = balance({
    ...common,
    ledger: await readLedger(site.world, remains.spilled),
    remains,
    duplicatesBecause: row.duplicatesBecause,
  });
  if (run.left !== undefined) {
    const left =
      [...remains.places].map(([place, count]) => `${count} in ${place}`).join(', ') || 'no messages';
    reasons.push(`not drained when time was up: ${run.left} not answered 202, ${left}`);
  }
  const figures = figuresOf(common);
  const evidence = evidenceOf(load.answers, faults, site, books.duplicates);
  const hit = row.hit(evidence);
  const uncounted = reasonsNotToCount(row, options, load.answers, faults, books.accepted, hit);
  const unexpected = load.answers.find(({ outcome }) => outcome === 'unexpected');
  if (unexpected) reasons.push(`an answer that no provider expects: ${unexpected.detail}`);
  const asides = options.brief ? [] : [...tooSlow(row, figures, evidence), ...madeAgain(books)];
  if (figures.p99BeforeMs <= quietP99Ms) reasons.push(...asides);
  else if (asides.length > 0) {
    uncounted.push(`the machine was too busy: p99 ${figures.p99BeforeMs} ms before the fault`, ...asides);
  }
  if (!row.mayRefuse && evidence.unavailable > books.accepted * refusedShareMax) {
    reasons.push(`${evidence.unavailable} answers were 503`);
  }
  reasons.push(...(row.check?.(evidence) ?? []));
  reasons.unshift(...books.problems);
  return {
    ...books,
    ...figures,
    row,
    unavailable: evidence.unavailable,
    reset: evidence.reset + evidence.refused,
    hit: hit ?? 'nothing',
    tookMs: performance.now() - run.startedAt,
    logFolder: run.logFolder,
    verdict:
      reasons.length > 0
        ? { kind: 'red', reasons }
        : uncounted.length > 0
          ? { kind: 'did not count', reasons: uncounted }
          : { kind: 'green' },
  };
}

function madeAgain({ unexplained }: Books): string[] {
  return unexplained.length === 0
    ? []
    : [`${unexplained.length} deliveries made again that no fault explains, such as ${unexplained[0]}`];
}

function tooSlow(row: Row, figures: Figures, { timedOut }: Evidence): string[] {
  const { slowestAnswerMs, p99Ms, p99BeforeMs } = figures;
  const reasons: string[] = [];
  if (timedOut > 0) reasons.push(`${timedOut} requests had no answer within 3 s`);
  if (slowestAnswerMs > slowestAnswerMsMax) reasons.push(`an answer took ${slowestAnswerMs} ms`);
  if (p99Ms > Math.max(row.p99MsMax ?? p99MsMax, p99BeforeMs * p99FactorMax)) {
    reasons.push(`p99 ${p99Ms} ms from a second after the fault, ${p99BeforeMs} ms before it`);
  }
  return reasons;
}

function evidenceOf(
  answers: readonly Answer[],
  faults: readonly Fault[],
  site: Site,
  duplicates: number,
): Evidence {
  const count = (outcome: Answer['outcome']) => answers.filter((answer) => answer.outcome === outcome).length;
  return {
    faults,
    unavailable: count('unavailable'),
    reset: count('reset'),
    refused: count('refused'),
    timedOut: count('timed_out'),
    cut: [...site.endpoints.values()].reduce((sum, each) => sum + each.cut(), 0),
    duplicates,
  };
}

function reasonsNotToCount(
  row: Row,
  options: RunOptions,
  answers: readonly Answer[],
  faults: readonly Fault[],
  accepted: number,
  hit: string | undefined,
): string[] {
  const reasons: string[] = [];
  if (accepted < acceptedMin[options.brief ? 'brief' : 'whole'])
    reasons.push(`only ${accepted} webhooks were answered 202`);
  if (hit === undefined) reasons.push('the fault hit nothing in flight');
  const times = answers
    .filter(({ outcome }) => outcome === 'accepted')
    .map(({ sentAt, tookMs }) => sentAt + tookMs);
  const withinMs = row.acceptsWithinMs ?? 1_000;
  for (const { what, startedAt, endedAt } of faults) {
    if (!times.some((at) => at < startedAt && at >= startedAt - 1_000))
      reasons.push(`no 202 in the second before: ${what}`);
    if (!times.some((at) => at > endedAt && at <= endedAt + withinMs))
      reasons.push(`no 202 within ${withinMs} ms after: ${what}`);
  }
  return reasons;
}

async function within<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('time was up')), Math.max(0, deadline - performance.now()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
