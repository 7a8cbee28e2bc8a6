// `npm run bench -- --spike`: a hundred times the normal rate for a minute, between calm phases.
import { setTimeout as wait } from 'node:timers/promises';
import type { DurableServices } from '../../harness/durable-services.ts';
import { acceptedRate, allDelivered, atMost, memoryLines, nothingRefused, shown } from './rate-lines.ts';
import { withRatedSite, type RatedSite, type RateLine } from './site.ts';

const calmPerSecond = 10;
const spikePerSecond = calmPerSecond * 100;
/**
 * Of the endpoint in the spike. A worker has up to 256 requests in flight to an endpoint, so that this one takes about 500 a
 * second, and half of the spike has to wait.
 */
const endpointDelayMs = 500;
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
    const { spike, backlog, drainSeconds } = await sendSpike(site, seconds.spike);
    const after = await site.send(calmly);
    await wait(seconds.rest * 1_000);
    const left = site.memory();
    return [
      shown('sent', `${calmPerSecond}/s, then ${spikePerSecond}/s for ${seconds.spike} s`),
      acceptedRate('accepted in the spike', spike.accepted, {
        perSecond: spikePerSecond,
        seconds: seconds.spike,
      }),
      nothingRefused(calm, spike, after),
      shown('answer p99 before and after', `${calm.p99Ms} ms, ${after.p99Ms} ms`),
      atMost('answer p99 in the spike', spike.p99Ms, answerMsMax, 'ms'),
      atMost('slowest answer in the spike', spike.maxMs, answerMsMax, 'ms'),
      atLeastOne('waiting at the end of the spike', backlog),
      shown('delivered and recorded after', `${Math.round(drainSeconds)} s`),
      allDelivered(await site.undelivered()),
      shown('receiver, worker, before', `${Math.round(before.receiver)}, ${Math.round(before.worker)} MiB`),
      ...memoryLines(left),
      atMost('receiver, more than before', left.receiver - before.receiver, memoryLeftMibMax, 'MiB'),
      atMost('worker, more than before', left.worker - before.worker, memoryLeftMibMax, 'MiB'),
    ];
  });
}

/** The endpoint answers slowly until the backlog is drained. */
async function sendSpike({ sink, send, backlog, drain }: RatedSite, seconds: number) {
  await sink.delay(endpointDelayMs);
  const spike = await send({ perSecond: spikePerSecond, seconds, connections: 256 });
  const waiting = await backlog();
  const drainSeconds = await drain();
  await sink.delay(0);
  return { spike, backlog: waiting, drainSeconds };
}

/** Without a backlog the run would not show that one drains. */
function atLeastOne(figure: string, count: number): RateLine {
  return { figure, value: String(count), bound: '> 0', holds: count > 0 };
}
