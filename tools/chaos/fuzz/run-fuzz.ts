import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createApp, type AppProcess, type AppSource } from '@hqrelay/services/app-process';
import { createWorld } from '@hqrelay/testing/world';
import type { DurableServices } from '../../harness/durable-services.ts';
import { addProject } from '../../harness/projects.ts';
import { noFigures, runCases, type FuzzFigures } from './run-cases.ts';

export type FuzzOptions = {
  services: DurableServices;
  apps: AppSource;
  seed: number;
  requests: number;
  say: (line: string) => void;
};

export type FuzzRun = FuzzFigures & {
  seed: number;
  seconds: number;
  rssMib: { early: number; late: number };
};

const rssGrowthMibMax = 10;
/** A receiver that has just started still grows. */
const rssRequestsMin = 20_000;
const rssReadings = 5;
const rssReadingEveryMs = 700;
const memoryPreload = join(import.meta.dirname, '../preload/report-memory.mjs');

/** Sends the requests of a seed to one receiver, whose memory is compared after a quarter of them and after all. */
export async function runFuzz({ services, apps, seed, requests, say }: FuzzOptions): Promise<FuzzRun> {
  const world = await createWorld(services.urls);
  const project = await addProject(world, []);
  const lines = new EventEmitter();
  const receiver = await createApp({
    app: 'receiver',
    from: apps,
    // The lines of refused requests would be most of the work.
    env: { ...world.env, LOG_LEVEL: 'warn', TRUST_PROXY: '1' },
    preload: [memoryPreload],
    onLine: (line) => lines.emit('line', line),
  });
  receiver.start();
  const figures = noFigures();
  const startedAt = performance.now();
  try {
    await receiver.waitUntilReady();
    const quarter = Math.floor(requests / 4);
    const run = { port: receiver.port, seed, target: { project } };
    await runCases(figures, { ...run, from: 0, until: quarter });
    const early = await rssMib(receiver, lines);
    say(`${quarter} requests: ${early} MiB`);
    await runCases(figures, { ...run, from: quarter, until: requests });
    const late = await rssMib(receiver, lines);
    say(`${requests} requests: ${late} MiB`);
    await receiver.waitUntilReady();
    const seconds = (performance.now() - startedAt) / 1_000;
    if (requests >= rssRequestsMin && late > early + rssGrowthMibMax)
      figures.problems.push(`the memory grew from ${early} to ${late} MiB`);
    return { ...figures, seed, seconds, rssMib: { early, late } };
  } finally {
    if (receiver.isRunning()) await receiver.end();
    else figures.problems.push('the receiver ended');
    await world.close();
  }
}

/**
 * The least of several readings, because sockets, rows and freed memory of the last requests are still being released. Throws
 * when the receiver does not report within 10 s.
 */
async function rssMib(receiver: AppProcess, lines: EventEmitter): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < rssReadings; reading += 1) {
    if (reading > 0) await wait(rssReadingEveryMs);
    receiver.signal('SIGUSR2');
    least = Math.min(least, await reportedRss(lines));
  }
  return Math.round(least / (1 << 20));
}

async function reportedRss(lines: EventEmitter): Promise<number> {
  const signal = AbortSignal.timeout(10_000);
  for (;;) {
    const [line] = (await once(lines, 'line', { signal })) as [string];
    const rssBytes = /"event":"memory","rssBytes":(\d+)/.exec(line)?.[1];
    if (rssBytes !== undefined) return Number(rssBytes);
  }
}
