import { changeEndpoint } from '../../harness/projects.ts';
import { holdMany } from './hold-many.ts';
import { ratioLine, rounded, type Line, type Scenario } from './scenario.ts';
import { createSite, p95, type Target } from './site.ts';

const name = 'resume of 200,000 held deliveries';
const rate = 500;

export const resume: Scenario = {
  name,
  run: async (options) => {
    const count = options.quick ? 10_000 : 200_000;
    const watchSeconds = options.quick ? 8 : 60;
    const site = await createSite({ ...options, targets: 2, workers: 2 });
    try {
      const [live, held] = site.targets as [Target, Target];
      await changeEndpoint(site.world, held.endpointId, 'paused = true');
      await holdMany(site, held, count, () => ({ reason: 'paused', dueAt: 0, queue: 'hqrelay.webhooks' }));
      options.say(`${count} held`);
      await site.send([live], 600, 200);
      await site.take();
      await site.send([live], 200 * 15, 200);
      const before = p95((await site.take())[live.path]?.latenciesMs ?? []);
      const resumedAt = Date.now();
      await changeEndpoint(site.world, held.endpointId, `paused = false, release_rate = ${rate}`);
      await site.send([live], 200 * watchSeconds, 200);
      const seen = await site.take();
      const arrivals = seen[held.path]?.arrivals ?? [];
      const during = p95(seen[live.path]?.latenciesMs ?? []);
      const firstMs = (arrivals[0]?.at ?? Number.POSITIVE_INFINITY) - resumedAt;
      const seconds = ((arrivals.at(-1)?.at ?? 0) - (arrivals[0]?.at ?? 0)) / 1_000;
      const perSecond = arrivals.length / seconds;
      // Deliveries of one batch (half a second) run at the same time; a difference of more than two batches is out of order.
      const overtaken = arrivals.filter(
        ({ receivedAt }, index) => receivedAt + 2 * rate < (arrivals[index - 1]?.receivedAt ?? 0),
      ).length;
      options.say(`first after ${firstMs} ms, ${rounded(perSecond)}/s`);
      const lines: Line[] = [
        line('first arrival, ms', rounded(firstMs), 'at most 2000', firstMs <= 2_000),
        line(
          `rate, chosen ${rate}/s`,
          `${rounded(perSecond)}/s`,
          'within 20 %',
          Math.abs(perSecond / rate - 1) <= 0.2,
        ),
        line('out of order', String(overtaken), 'none', overtaken === 0),
        ratioLine(name, 'live p95, ms', { before, during, atMost: 1.5 }),
      ];
      return lines;
    } finally {
      await site.close();
    }
  },
};

function line(figure: string, value: string, bound: string, holds: boolean): Line {
  return { scenario: name, figure, value, bound, holds };
}
