// `npm run bench -- --scrape` measures what Prometheus's request for the metrics costs while webhooks are received and delivered.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { AppProcess } from '@hqrelay/services/app-process';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { createSite, p95 } from '../isolation/site.ts';
import { median } from '../isolation/live-phases.ts';
import { cpuMicroseconds } from '../../harness/process-cost.ts';

export type ScrapeLine = {
  app: string;
  load: string;
  /** CPU time of the process for one scrape, for which everything else in it waits. */
  cpuMs: number;
  /** From the request to its last byte, which contains the wait behind webhooks. */
  medianMs: number;
  p95Ms: number;
  bytes: number;
};

const perSecond = 300;
/** In turns without and with scrapes, so that both see the same machine. */
const plans = { full: { seconds: 12, turns: 2 }, quick: { seconds: 3, turns: 1 } };
type Plan = { seconds: number; turns: number };
const everyMs = 20;

/** Scrapes a receiver and a worker, first without and then with load. */
export async function measureScrapes(
  services: DurableServices,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<ScrapeLine[]> {
  const plan = quick ? plans.quick : plans.full;
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const site = await createSite({ services, apps, targets: 20, workers: 2 });
  const load = () => site.send(site.targets, perSecond * plan.seconds, perSecond);
  try {
    await site.send(site.targets, perSecond * 5, perSecond);
    const lines: ScrapeLine[] = [];
    for (const app of [...site.receivers, ...site.workers.slice(0, 1)]) {
      say(`${app.name} without load`);
      lines.push(await measureScrape(app, 'none', () => wait(plan.seconds * 1_000), plan));
      say(`${app.name} at ${perSecond} webhooks a second`);
      lines.push(await measureScrape(app, `${perSecond}/s`, load, plan));
    }
    return lines;
  } finally {
    await site.close();
  }
}

async function measureScrape(
  app: AppProcess,
  load: string,
  work: () => Promise<unknown>,
  { turns }: Plan,
): Promise<ScrapeLine> {
  const times: number[] = [];
  let costMs = 0;
  let bytes = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const without = await cpuMsWhile(app, work());
    const under = work();
    const scraping = scrapeUntil(app, under);
    const withScrapes = await cpuMsWhile(app, under);
    const scraped = await scraping;
    times.push(...scraped.times);
    bytes = scraped.bytes;
    costMs += withScrapes - without;
  }
  return {
    app: app.name,
    load,
    cpuMs: costMs / times.length,
    medianMs: median(times),
    p95Ms: p95(times),
    bytes,
  };
}

async function cpuMsWhile(app: AppProcess, work: Promise<unknown>): Promise<number> {
  const cpu = () => (cpuMicroseconds({ app: app.pid() })['app'] ?? 0) / 1_000;
  const before = cpu();
  await work;
  return cpu() - before;
}

async function scrapeUntil(
  app: AppProcess,
  until: Promise<unknown>,
): Promise<{ times: number[]; bytes: number }> {
  let isOver = false;
  const over = until.finally(() => (isOver = true));
  const times: number[] = [];
  let bytes = 0;
  while (!isOver) {
    const startedAt = performance.now();
    const answer = await fetch(`${app.url}/metrics`);
    bytes = (await answer.text()).length;
    if (answer.status !== 200) throw new Error(`${app.name} answered a scrape ${answer.status}`);
    times.push(performance.now() - startedAt);
    await wait(everyMs);
  }
  await over;
  return { times, bytes };
}
