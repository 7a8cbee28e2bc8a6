import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { createApp, type AppSource } from '@hqrelay/services/app-process';
import { createWorld } from '@hqrelay/testing/world';
import type { DurableServices } from '../../harness/durable-services.ts';
import { addProject } from '../../harness/projects.ts';
import { readMemory, type ReceiverMemory } from './receiver-memory.ts';
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
  /** After each quarter of the requests. */
  memory: ReceiverMemory[];
};

const rssGrowthMibMax = 10;
/** A receiver that has just started still grows. */
const rssRequestsMin = 20_000;
const memoryPreload = join(import.meta.dirname, '../preload/report-memory.mjs');

/**
 * Sends the requests of a seed to one receiver. Its memory after the first quarter of them is compared with that after all.
 * Garbage is collected after each quarter, so that before both readings as much of it has gathered: glibc keeps for itself what
 * the receiver needed at most at one time.
 */
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
    const run = { port: receiver.port, seed, target: { project } };
    const memory: ReceiverMemory[] = [];
    for (const quarter of [0, 1, 2, 3]) {
      const [from, until] = [quarter, quarter + 1].map((end) => Math.floor((requests * end) / 4)) as [
        number,
        number,
      ];
      await runCases(figures, { ...run, from, until });
      memory.push(await readMemory(receiver, lines));
      say(`${until} requests: ${memoryText(memory.at(-1) as ReceiverMemory)}`);
    }
    await receiver.waitUntilReady();
    const seconds = (performance.now() - startedAt) / 1_000;
    if (requests >= rssRequestsMin) figures.problems.push(...growthOf(memory));
    return { ...figures, seed, seconds, memory };
  } finally {
    if (receiver.isRunning()) await receiver.end();
    else figures.problems.push('the receiver ended');
    await world.close();
  }
}

function growthOf(memory: readonly ReceiverMemory[]): string[] {
  const [early = 0, , , late = 0] = memory.map(({ rss }) => rss);
  return late > early + rssGrowthMibMax ? [`the memory grew from ${early} to ${late} MiB`] : [];
}

function memoryText({ rss, heap, external }: ReceiverMemory): string {
  return `${rss} MiB, of them ${heap} heap and ${external} external`;
}
