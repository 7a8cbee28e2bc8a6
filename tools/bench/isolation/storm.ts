import { setTimeout as wait } from 'node:timers/promises';
import { p95, type Site, type Target } from './site.ts';

export type StormResult = {
  beforeMs: number;
  duringMs: number;
  /** Of the storm, per second. */
  perSecond: number;
};

/**
 * The p95 from received to delivered of live traffic to the first target: without a storm, then during a storm for the
 * second target.
 */
export async function liveBeside(
  site: Site,
  storm: { start: () => Promise<void>; count: number },
  live: { perSecond: number; quietSeconds: number; stormSecondsMax: number },
): Promise<StormResult> {
  const [target, stormed] = site.targets as [Target, Target];
  await site.send([target], live.perSecond * 3, live.perSecond);
  await wait(500);
  await site.take();
  await site.send([target], live.perSecond * live.quietSeconds, live.perSecond);
  await wait(500);
  const beforeMs = p95((await site.take())[target.path]?.latenciesMs ?? []);

  await storm.start();
  const startedAt = performance.now();
  const latencies: number[] = [];
  let arrived = 0;
  let endedAt = startedAt;
  while (arrived < storm.count && performance.now() - startedAt < live.stormSecondsMax * 1_000) {
    await site.send([target], live.perSecond * 2, live.perSecond);
    const seen = await site.take();
    latencies.push(...(seen[target.path]?.latenciesMs ?? []));
    arrived += seen[stormed.path]?.count ?? 0;
    endedAt = performance.now();
  }
  if (arrived < storm.count) throw new Error(`${arrived} of the storm's ${storm.count} arrived in time`);
  return {
    beforeMs,
    duringMs: p95(latencies),
    perSecond: (arrived / (endedAt - startedAt)) * 1_000,
  };
}
