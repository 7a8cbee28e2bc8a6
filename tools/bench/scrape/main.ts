// `npm run bench -- --scrape` measures what Prometheus's request for the metrics costs while webhooks are received and delivered.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { AppProcess } from '@hqrelay/services/app-process';
import { copyBuiltApps } from '../../harness/app-copy.ts';
import type { DurableServices } from '../../harness/durable-services.ts';
import { createSite, p95 } from '../isolation/site.ts';
import { median } from '../isolation/live-phases.ts';

export type ScrapeLine = { app: string; load: string; medianMs: number; p95Ms: number; bytes: number };

const perSecond = 300;
const seconds = 20;
const everyMs = 200;

/** Scrapes a receiver and a worker, first without and then with load. */
export async function measureScrapes(
  services: DurableServices,
  say: (line: string) => void,
): Promise<ScrapeLine[]> {
  const apps = copyBuiltApps(join(services.folder, 'apps'));
  const site = await createSite({ services, apps, targets: 20, workers: 2 });
  try {
    await site.send(site.targets, perSecond * 2, perSecond);
    const scraped = [...site.receivers, ...site.workers.slice(0, 1)];
    say(`scrapes for ${seconds} s without load`);
    const quiet = await scrapeFor(scraped, 'none', wait(seconds * 1_000));
    say(`scrapes for ${seconds} s at ${perSecond} webhooks a second`);
    const load = site.send(site.targets, perSecond * seconds, perSecond);
    return [...quiet, ...(await scrapeFor(scraped, `${perSecond}/s`, load))];
  } finally {
    await site.close();
  }
}

async function scrapeFor(
  apps: readonly AppProcess[],
  load: string,
  until: Promise<unknown>,
): Promise<ScrapeLine[]> {
  let isOver = false;
  const over = until.finally(() => (isOver = true));
  const seen = apps.map(({ name }) => ({ name, times: [] as number[], bytes: 0 }));
  while (!isOver) {
    for (const [index, app] of apps.entries()) {
      const startedAt = performance.now();
      const answer = await fetch(`${app.url}/metrics`);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${app.name} answered a scrape ${answer.status}`);
      seen[index]?.times.push(performance.now() - startedAt);
      (seen[index] as { bytes: number }).bytes = text.length;
    }
    await wait(everyMs);
  }
  await over;
  return seen.map(({ name, times, bytes }) => ({
    app: name,
    load,
    medianMs: median(times),
    p95Ms: p95(times),
    bytes,
  }));
}
