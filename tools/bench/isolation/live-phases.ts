import { waitFor } from '@hqrelay/testing/wait-for';
import { countAt, p95, type Site, type Target } from './site.ts';

export type Live = { perSecond: number; seconds: number };

/** Sends live traffic to the targets; the p95 from received to delivered, ms. */
export async function liveP95(site: Site, targets: readonly Target[], live: Live): Promise<number> {
  await site.take();
  const count = live.perSecond * live.seconds;
  await site.send(targets, count, live.perSecond);
  await waitFor('live webhooks to arrive', async () => (await countAt(site, targets)) >= count, {
    timeoutMs: 30_000,
    everyMs: 50,
  });
  const seen = await site.take();
  return p95(targets.flatMap(({ path }) => seen[path]?.latenciesMs ?? []));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
