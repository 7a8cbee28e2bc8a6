import { setTimeout as wait } from 'node:timers/promises';
import { p95, type Site, type Target } from './site.ts';

export type Live = { perSecond: number; seconds: number };

/** Sends live traffic to the targets; the p95 from received to delivered, ms. */
export async function liveP95(site: Site, targets: readonly Target[], live: Live): Promise<number> {
  await site.take();
  const count = live.perSecond * live.seconds;
  await site.send(targets, count, live.perSecond);
  await untilArrived(site, targets, count);
  const seen = await site.take();
  return p95(targets.flatMap(({ path }) => seen[path]?.latenciesMs ?? []));
}

async function untilArrived(site: Site, targets: readonly Target[], count: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const counts = await site.counts();
    if (targets.reduce((sum, { path }) => sum + (counts[path] ?? 0), 0) >= count) return;
    await wait(50);
  }
  throw new Error(`live webhooks did not arrive within 30 s`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
