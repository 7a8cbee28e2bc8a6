// `npm run bench -- --sustained`: a steady rate for five minutes, accepted and delivered at once.
import type { DurableServices } from '../../harness/durable-services.ts';
import { acceptedRate, allDelivered, atMost, memoryLines, nothingRefused, shown } from './rate-lines.ts';
import { withRatedSite, type RateLine } from './site.ts';

const perSecond = 1_000;
const plans = { full: { warmUpSeconds: 15, seconds: 300 }, quick: { warmUpSeconds: 5, seconds: 15 } };

export function measureSustained(
  services: DurableServices,
  { quick }: { quick: boolean },
): Promise<RateLine[]> {
  const { warmUpSeconds, seconds } = quick ? plans.quick : plans.full;
  const rate = { perSecond, connections: 64 };
  return withRatedSite(services, async (site) => {
    const warmUp = await site.send({ ...rate, seconds: warmUpSeconds });
    const result = await site.send({ ...rate, seconds });
    const backlog = await site.backlog();
    const drainSeconds = await site.drain();
    return [
      shown('sent', `${perSecond}/s for ${seconds} s`),
      acceptedRate('accepted', result.accepted, { perSecond, seconds }),
      nothingRefused(warmUp, result),
      shown('answer p50', `${result.p50Ms} ms`),
      atMost('answer p99', result.p99Ms, 100, 'ms'),
      shown('slowest answer', `${Math.round(result.maxMs)} ms`),
      shown('waiting at the end', String(backlog)),
      atMost('delivered and recorded after the end', drainSeconds, 10, 's'),
      allDelivered(await site.undelivered()),
      ...memoryLines(site.memory()),
    ];
  });
}
