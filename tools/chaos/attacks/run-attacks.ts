import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { AppSource } from '@hqrelay/services/app-process';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startFleet, type Fleet } from '../../harness/fleet.ts';
import { Load } from '../../harness/load.ts';
import { addProject } from '../../harness/projects.ts';
import { startEndpoint } from '../endpoint.ts';
import type { Attack, AttackFigures } from './attack.ts';
import { startAttackers, type Attackers } from './attackers-child.ts';
import { judgePhase, type Genuine, type PhaseResult } from './judge-phase.ts';
import { startProbe, type ProbeFigures } from './receiver-probe.ts';

export type AttackRunOptions = {
  services: DurableServices;
  apps: AppSource;
  attacks: readonly Attack[];
  say: (line: string) => void;
};

export type AttackRun = {
  calm: Genuine & ProbeFigures;
  phases: PhaseResult[];
  /** What does not hold for the run as a whole. */
  problems: string[];
};

const projectCount = 10;
const perSecond = 100;
/** Receivers that have just started compile their code for seconds. */
const warmUpMs = 5_000;
const phaseMs = 10_000;
const recoveryMsMax = 10_000;
const gapMs = 3_000;

/** Ten projects send to two receivers at a steady rate: first alone, then beside one attack after the other. */
export async function runAttacks({ services, apps, attacks, say }: AttackRunOptions): Promise<AttackRun> {
  const world = await createWorld(services.urls);
  const endpoint = await startEndpoint('genuine', () => ({ statusCode: 200, delayMs: 0 }));
  const projects = [];
  for (let i = 0; i < projectCount; i += 1) {
    projects.push(await addProject(world, [{ url: endpoint.url, retry: '1s,2s' }]));
  }
  const attackers = await startAttackers();
  const logFolder = join(services.folder, 'attacks');
  mkdirSync(logFolder);
  const fleet = await startFleet({ from: apps, receivers: 2, workers: 1, env: world.env, logFolder });
  const load = new Load(projects, fleet.receivers);
  try {
    load.start(perSecond);
    await wait(warmUpMs);
    const calm = await measure(load, fleet, { start: async () => {}, stop: async () => {} });
    say(`calm: p99 ${calm.p99Ms} ms`);
    const phases: PhaseResult[] = [];
    for (const attack of attacks) {
      const phase = await runPhase(attack, { load, fleet, attackers });
      const result = { attack, ...phase, problems: judgePhase(phase, calm) };
      say(`${attack.name}: p99 ${phase.p99Ms} ms; ${result.problems.join('; ') || 'green'}`);
      phases.push(result);
      await recovery(load);
    }
    load.stop();
    return { calm, phases, problems: await problemsAtEnd(world, load) };
  } finally {
    load.close();
    attackers.end();
    await fleet.end('SIGKILL');
    await endpoint.shut();
    await world.close();
  }
}

/** So that an attack is not judged by what the attack before it left behind: the providers send again what was refused. */
async function recovery(load: Load): Promise<void> {
  await waitFor('the requests of the last phase', () => load.inFlight() <= projectCount, {
    timeoutMs: recoveryMsMax,
  }).catch(() => {});
  await wait(gapMs);
}

async function runPhase(
  attack: Attack,
  { load, fleet, attackers }: { load: Load; fleet: Fleet; attackers: Attackers },
): Promise<Genuine & ProbeFigures & { attacked: AttackFigures }> {
  const ports = fleet.receivers.map(({ port }) => port);
  let attacked: AttackFigures | undefined;
  const figures = await measure(load, fleet, {
    start: () => attackers.start(attack.name, ports),
    stop: async () => void (attacked = await attackers.stop()),
  });
  if (!attacked) throw new Error('the attackers did not report');
  return { ...figures, attacked };
}

/**
 * The answers to what genuine providers send in one phase. The attackers stop after it: the thousands of sockets that they then
 * close at once, in the same cores, are no part of the attack.
 */
async function measure(
  load: Load,
  fleet: Fleet,
  attack: { start: () => Promise<void>; stop: () => Promise<void> },
): Promise<Genuine & ProbeFigures> {
  const probe = startProbe(fleet.receivers);
  const lateness = monitorEventLoopDelay({ resolution: 10 });
  lateness.enable();
  const from = performance.now();
  await attack.start();
  await wait(Math.max(0, from + phaseMs - performance.now()));
  const until = performance.now();
  const probed = probe.stop();
  const lateMs = Math.round(lateness.max / 1e6);
  // Providers give up after 3 s.
  await waitFor('the answers', () => !load.isWaitingSince(until), { timeoutMs: 4_000 });
  await attack.stop();
  const answers = load.answers.filter(({ sentAt }) => sentAt >= from && sentAt < until);
  const times = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return {
    sent: answers.length,
    p99Ms: Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0),
    slowestMs: Math.round(times.at(-1) ?? 0),
    refused: answers.filter(({ outcome }) => outcome !== 'accepted').length,
    lateMs,
    ...probed,
  };
}

/** Every genuine webhook that was answered 202 has one queued row. */
async function problemsAtEnd(world: World, load: Load): Promise<string[]> {
  const queued = async () => {
    const { rows } = await world.sql.query<{ rows: number; webhooks: number }>(
      `select count(*)::int as rows, count(distinct (project_id, webhook_id))::int as webhooks
       from webhook_logs where status = 'queued'`,
    );
    return rows[0] ?? { rows: 0, webhooks: 0 };
  };
  const isBalanced = async () => {
    const { rows, webhooks } = await queued();
    return load.outstanding === 0 && rows === load.accepted && webhooks === load.accepted;
  };
  try {
    await waitFor('the rows', isBalanced, { timeoutMs: 15_000, everyMs: 250 });
    return [];
  } catch {
    const { rows, webhooks } = await queued();
    return [`${load.accepted} webhooks were answered 202, ${rows} rows are queued, of ${webhooks} webhooks`];
  }
}
