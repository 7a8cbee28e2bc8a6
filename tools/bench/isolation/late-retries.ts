import { waitFor } from '@hqrelay/testing/wait-for';
import { rounded, type Line, type Scenario } from './scenario.ts';
import { createSite, p95, type Site, type Target } from './site.ts';

const name = 'three endpoints answer after 20 s, with thousands waiting';
const retryAfterMs = 1_000;
const onTimeMs = 2_000;
/** More than the three may have in flight: a second wave of deliveries, which were held first, goes through the retries. */
const firstWaveMax = 768;

export const lateRetries: Scenario = {
  name,
  run: async (options) => {
    const count = options.quick ? 1_500 : 6_000;
    const retries = 24;
    const site = await createSite({
      ...options,
      targets: 4,
      workers: 1,
      retry: '1s,1s,1s',
      timeoutMs: 60_000,
    });
    try {
      const [failing, ...slow] = site.targets as [Target, ...Target[]];
      const slowModes = Object.fromEntries(slow.map(({ path }) => [path, 'slow' as const]));
      await site.answer({ ...slowModes, [failing.path]: 'fail_first' });
      const quiet = await latenessOfRetries(site, failing, retries);
      options.say(`quiet: ${quiet.length} of ${retries} retries, p95 ${rounded(p95(quiet))} ms late`);
      await site.send(slow, count, 2_000);
      await waitFor(
        'held deliveries to reach the slow endpoints',
        async () => {
          const counts = await site.counts();
          return slow.reduce((sum, { path }) => sum + (counts[path] ?? 0), 0) > firstWaveMax;
        },
        { timeoutMs: 60_000, everyMs: 100 },
      );
      const beside = await latenessOfRetries(site, failing, retries);
      const onTime = beside.filter((ms) => ms <= onTimeMs).length;
      const lines: Line[] = [
        {
          scenario: name,
          figure: `one-second retries of another endpoint made within ${onTimeMs / 1_000} s of their time`,
          value: `${onTime} of ${retries}`,
          bound: 'all',
          holds: onTime === retries,
        },
        {
          scenario: name,
          figure: 'p95 of how late they are, ms',
          value: `${rounded(p95(beside))} (quiet ${rounded(p95(quiet))})`,
          bound: '',
          holds: true,
        },
      ];
      return lines;
    } finally {
      await site.close();
    }
  },
};

/** How long after their time the second attempts arrive, ms; those that do not arrive within a minute are left out. */
async function latenessOfRetries(site: Site, target: Target, count: number): Promise<number[]> {
  await site.take();
  await site.send([target], count, 2);
  const seen = await waitFor(
    'all retries, or a minute',
    async () => (await site.counts())[target.path] === 2 * count,
    { timeoutMs: 60_000, everyMs: 50 },
  )
    // Retries that have not arrived by then are left out.
    .catch(() => {})
    .then(() => site.take());
  const arrivals = seen[target.path]?.arrivals ?? [];
  const firstAt = new Map(arrivals.filter(({ attempt }) => attempt === 1).map(({ id, at }) => [id, at]));
  return arrivals
    .filter(({ attempt }) => attempt === 2)
    .map(({ id, at }) => at - (firstAt.get(id) ?? at) - retryAfterMs);
}
