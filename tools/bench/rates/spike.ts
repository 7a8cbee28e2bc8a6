// `npm run bench -- --spike`: a hundred times the normal rate for a minute, between calm phases.
import { setTimeout as wait } from 'node:timers/promises';
import type { DurableServices } from '../../harness/durable-services.ts';
import { atMost, nothingRefused, shown, withRatedSite, type RateLine } from './site.ts';

const calmPerSecond = 20;
const spikePerSecond = calmPerSecond * 100;
const plans = { full: { calm: 20, spike: 60, rest: 60 }, quick: { calm: 5, spike: 10, rest: 10 } };
/** The contract's bound of every answer, ms. */
const answerMsMax = 2_500;
/** How much more memory a process may hold when all is over, MiB. */
const memoryLeftMibMax = 50;

export function measureSpike(services: DurableServices, { quick }: { quick: boolean }): Promise<RateLine[]> {
  const seconds = quick ? plans.quick : plans.full;
  return withRatedSite(services, async (site) => {
    const calmly = { perSecond: calmPerSecond, seconds: seconds.calm, connections: 8 };
    // A process has its usual memory only after it has worked.
    await site.send({ perSecond: 500, seconds: seconds.calm, connections: 64 });
    await site.drain();
    const calm = await site.send(calmly);
    const before = site.memory();
    const spike = await site.send({ perSecond: spikePerSecond, seconds: seconds.spike, connections: 256 });
    const backlog = await site.backlog();
    const drainSeconds = await site.drain();
    const peak = site.memory();
    const after = await site.send(calmly);
    await wait(seconds.rest * 1_000);
    const left = site.memory();
    return [
      shown('sent', `${calmPerSecond}/s, then ${spikePerSecond}/s for ${seconds.spike} s`),
      shown('accepted in the spike', `${Math.round(spike.accepted / seconds.spike)}/s`),
      nothingRefused(spike),
      shown('answer p99 before and after', `${calm.p99Ms} ms, ${after.p99Ms} ms`),
      atMost('answer p99 in the spike', spike.p99Ms, answerMsMax, 'ms'),
      atMost('slowest answer in the spike', spike.maxMs, answerMsMax, 'ms'),
      shown('waiting at the end of the spike', String(backlog)),
      shown('delivered and recorded after', `${Math.round(drainSeconds)} s`),
      shown('receiver, before, peak', `${Math.round(before.receiver)}, ${Math.round(peak.receiverPeak)} MiB`),
      shown('worker, before, peak', `${Math.round(before.worker)}, ${Math.round(peak.workerPeak)} MiB`),
      atMost('receiver, more than before', left.receiver - before.receiver, memoryLeftMibMax, 'MiB'),
      atMost('worker, more than before', left.worker - before.worker, memoryLeftMibMax, 'MiB'),
    ];
  });
}
