import { waitFor } from '@hqrelay/testing/wait-for';
import { liveP95, median } from './live-phases.ts';
import { ratioLine, type Scenario } from './scenario.ts';
import { createSite, type Site } from './site.ts';

const name = 'one of ten endpoints hangs until the timeout';

/** In turn without and with the hang, so that what the machine does meanwhile meets both. */
export const oneHangs: Scenario = {
  name,
  run: async (options) => {
    const rounds = options.quick ? 1 : 3;
    const seconds = options.quick ? 4 : 12;
    const measured = { quiet: [] as Round[], hanging: [] as Round[] };
    for (let number = 1; number <= rounds; number += 1) {
      for (const kind of ['quiet', 'hanging'] as const) {
        const site = await createSite({ ...options, targets: 10, workers: 1 });
        try {
          const round = await measure(site, kind, { seconds, backlog: options.quick ? 5_000 : 20_000 });
          measured[kind].push(round);
          options.say(
            `${kind}: nine got ${Math.round(round.perSecond)}/s, p95 ${Math.round(round.p95Ms)} ms`,
          );
        } finally {
          await site.close();
        }
      }
    }
    const of = (kind: 'quiet' | 'hanging', figure: keyof Round) =>
      median(measured[kind].map((round) => round[figure]));
    return [
      ratioLine(name, 'throughput of the other nine, per second', {
        before: of('quiet', 'perSecond'),
        during: of('hanging', 'perSecond'),
        atLeast: 0.9,
      }),
      ratioLine(name, 'p95 from received to delivered of the other nine, ms', {
        before: of('quiet', 'p95Ms'),
        during: of('hanging', 'p95Ms'),
        atMost: 1.5,
      }),
    ];
  },
};

type Round = { perSecond: number; p95Ms: number };

/** First a steady stream, from its very beginning; then a backlog of all ten, drained as fast as can be. */
async function measure(
  site: Site,
  kind: 'quiet' | 'hanging',
  { seconds, backlog }: { seconds: number; backlog: number },
): Promise<Round> {
  const nine = site.targets.slice(0, 9);
  await liveP95(site, nine, { perSecond: 300, seconds: 2 });
  if (kind === 'hanging') await site.answer({ '/9': 'hang' });
  // The tenth gets its share of the stream beside the nine.
  const tenth = site.targets[9]!;
  const all = [...nine, tenth];
  await site.take();
  await site.send(all, 300 * seconds, 300);
  await waitFor('the nine to have got theirs', async () => countOf(await site.counts()) >= 270 * seconds, {
    timeoutMs: 60_000,
  });
  const seen = await site.take();
  const latencies = nine.flatMap(({ path }) => seen[path]?.latenciesMs ?? []).toSorted((a, b) => a - b);
  const p95Ms = latencies[Math.ceil(latencies.length * 0.95) - 1] ?? Number.NaN;

  await Promise.all(site.workers.map((worker) => worker.stop()));
  await site.send(all, backlog, 4_000);
  for (const worker of site.workers) worker.start();
  const wanted = Math.floor(backlog * 0.9 * 0.95);
  await waitFor('the first to arrive', async () => countOf(await site.counts()) > backlog * 0.1, {
    timeoutMs: 60_000,
    everyMs: 10,
  });
  const first = countOf(await site.counts());
  const startedAt = performance.now();
  await waitFor('the backlog of the nine', async () => countOf(await site.counts()) >= wanted, {
    timeoutMs: 120_000,
    everyMs: 20,
  });
  const perSecond = ((countOf(await site.counts()) - first) / (performance.now() - startedAt)) * 1_000;
  return { perSecond, p95Ms };
}

function countOf(counts: Record<string, number>): number {
  return Object.entries(counts).reduce((sum, [path, count]) => sum + (path === '/9' ? 0 : count), 0);
}
