// `npm run bench -- --sustained`: a steady rate for five minutes, accepted and delivered at once.
import type { DurableServices } from '../../harness/durable-services.ts';
import { atMost, nothingRefused, shown, withRatedSite, type RateLine } from './site.ts';

const perSecond = 1_000;
const plans = { full: { warmUpSeconds: 15, seconds: 300 }, quick: { warmUpSeconds: 5, seconds: 15 } };

export function measureSustained(
  services: DurableServices,
  { quick }: { quick: boolean },
): Promise<RateLine[]> {
  const { warmUpSeconds, seconds } = quick ? plans.quick : plans.full;
  const rate = { perSecond, connections: 64 };
  return withRatedSite(services, async (site) => {
    await site.send({ ...rate, seconds: warmUpSeconds });
    const result = await site.send({ ...rate, seconds });
    const backlog = await site.backlog();
    const drainSeconds = await site.drain();
    const memory = site.memory();
    return [
      shown('sent', `${perSecond}/s for ${seconds} s`),
      {
        figure: 'accepted',
        value: `${Math.round(result.accepted / seconds)}/s`,
        bound: `${perSecond}/s`,
        holds: result.accepted >= perSecond * seconds * 0.99,
      },
      nothingRefused(result),
      shown('answer p50', `${result.p50Ms} ms`),
      atMost('answer p99', result.p99Ms, 100, 'ms'),
      shown('slowest answer', `${Math.round(result.maxMs)} ms`),
      shown('waiting at the end', String(backlog)),
      atMost('delivered and recorded after the end', drainSeconds, 10, 's'),
      atMost('receiver, peak', memory.receiverPeak, 200, 'MiB'),
      atMost('worker, peak', memory.workerPeak, 300, 'MiB'),
    ];
  });
}
