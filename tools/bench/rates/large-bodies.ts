// `npm run bench -- --bodies`: a hundred bodies of 1 MiB in flight, accepted and delivered at once, as fast as the machine can.
import type { DurableServices } from '../../harness/durable-services.ts';
import { allDelivered, memoryLines, nothingRefused, shown } from './rate-lines.ts';
import { withRatedSite, type RateLine } from './site.ts';

const large = { connections: 100, bodyBytes: 1 << 20 };
const plans = { full: { warmUpSeconds: 10, seconds: 30 }, quick: { warmUpSeconds: 3, seconds: 5 } };

export function measureLargeBodies(
  services: DurableServices,
  { quick }: { quick: boolean },
): Promise<RateLine[]> {
  const { warmUpSeconds, seconds } = quick ? plans.quick : plans.full;
  return withRatedSite(services, async (site) => {
    // A process has its usual memory only after it has worked.
    await site.send({ perSecond: 500, seconds: warmUpSeconds, connections: 64 });
    await site.drain();
    const before = site.memory();
    const result = await site.send({ ...large, seconds });
    const backlog = await site.backlog();
    const drainSeconds = await site.drain();
    return [
      shown('sent', `${large.connections} bodies of 1 MiB at once for ${seconds} s`),
      shown('accepted', `${(result.accepted / seconds).toFixed(1)}/s`),
      nothingRefused(result),
      shown('answer p50, p99', `${Math.round(result.p50Ms)} ms, ${Math.round(result.p99Ms)} ms`),
      shown('waiting at the end', String(backlog)),
      shown('delivered and recorded after', `${Math.round(drainSeconds)} s`),
      allDelivered(await site.undelivered()),
      shown('receiver, worker, before', `${Math.round(before.receiver)}, ${Math.round(before.worker)} MiB`),
      ...memoryLines(site.memory()),
    ];
  });
}
