import { holdMany } from './hold-many.ts';
import { ratioLine, rounded, type Scenario } from './scenario.ts';
import { createSite, type Target } from './site.ts';
import { liveBeside } from './storm.ts';

const name = 'a bulk replay of 50,000';
const rate = 500;

export const bulkReplay: Scenario = {
  name,
  run: async (options) => {
    const count = options.quick ? 5_000 : 50_000;
    const site = await createSite({ ...options, targets: 2, workers: 1 });
    try {
      // Due one after another, as `dlq replay --rate 500` holds them.
      const start = async () => {
        const from = Date.now() + 1_000;
        await holdMany(site, site.targets[1] as Target, count, (index) => ({
          reason: 'delay',
          dueAt: from + Math.floor((index * 1_000) / rate),
          queue: 'hqrelay.replays',
        }));
      };
      const result = await liveBeside(
        site,
        { start, count },
        { perSecond: 200, quietSeconds: options.quick ? 4 : 15, stormSecondsMax: 400 },
      );
      return [
        ratioLine(name, `live p95, ms, while replays go at ${rounded(result.perSecond)}/s`, {
          before: result.beforeMs,
          during: result.duringMs,
          atMost: 1.5,
        }),
      ];
    } finally {
      await site.close();
    }
  },
};
