import { waitFor } from '@hqrelay/testing/wait-for';
import { liveP95, median } from './live-phases.ts';
import { ratioLine, type Line, type ScenarioOptions } from './scenario.ts';
import { countAt, p95, type Site, type Target } from './site.ts';

type Round = { perSecond: number; p95Ms: number };

/** A site whose endpoints from number `healthy` on are in trouble, or not, according to `kind`. */
export type Trouble = {
  name: string;
  endpoints: number;
  healthy: number;
  createSite: (kind: 'quiet' | 'trouble') => Promise<Site>;
  /** Starts the trouble, after the workers are warm. */
  begin?: (site: Site) => Promise<void>;
};

/**
 * Throughput and latency of the healthy endpoints while the others are in trouble, against those while none is. Rounds with and
 * without trouble alternate, so that other work of the machine slows both.
 */
export async function measureBesideTrouble(
  { name, endpoints, healthy, createSite, begin }: Trouble,
  { quick, say }: ScenarioOptions,
): Promise<Line[]> {
  const rounds = quick ? 1 : 3;
  const load = { seconds: quick ? 4 : 12, backlog: quick ? 5_000 : 20_000 };
  const measured = { quiet: [] as Round[], trouble: [] as Round[] };
  for (let number = 1; number <= rounds; number += 1) {
    for (const kind of ['quiet', 'trouble'] as const) {
      const site = await createSite(kind);
      try {
        const others = site.targets.slice(0, healthy);
        await liveP95(site, others, { perSecond: 300, seconds: 2 });
        if (kind === 'trouble') await begin?.(site);
        const round = {
          p95Ms: await measureStream(site, others, load.seconds),
          perSecond: await measureDrain(site, others, load.backlog),
        };
        measured[kind].push(round);
        say(`${kind}: the others got ${Math.round(round.perSecond)}/s, p95 ${Math.round(round.p95Ms)} ms`);
      } finally {
        await site.close();
      }
    }
  }
  const of = (kind: 'quiet' | 'trouble', figure: keyof Round) =>
    median(measured[kind].map((round) => round[figure]));
  const others = `the other ${healthy} of ${endpoints}`;
  return [
    ratioLine(name, `throughput of ${others}, per second`, {
      before: of('quiet', 'perSecond'),
      during: of('trouble', 'perSecond'),
      atLeast: 0.9,
    }),
    ratioLine(name, `p95 from received to delivered of ${others}, ms`, {
      before: of('quiet', 'p95Ms'),
      during: of('trouble', 'p95Ms'),
      atMost: 1.5,
    }),
  ];
}

/** A steady stream to all endpoints; the p95 of the healthy ones. */
async function measureStream(site: Site, others: readonly Target[], seconds: number): Promise<number> {
  const share = others.length / site.targets.length;
  await site.take();
  await site.send(site.targets, 300 * seconds, 300);
  await waitFor(
    'the healthy endpoints to receive their webhooks',
    async () => (await countAt(site, others)) >= Math.floor(300 * seconds * share),
    { timeoutMs: 60_000 },
  );
  const seen = await site.take();
  return p95(others.flatMap(({ path }) => seen[path]?.latenciesMs ?? []));
}

/** A backlog of all endpoints, drained as fast as the workers can; deliveries a second to the healthy ones. */
async function measureDrain(site: Site, others: readonly Target[], backlog: number): Promise<number> {
  const wanted = Math.floor((backlog * others.length) / site.targets.length);
  await Promise.all(site.workers.map((worker) => worker.end()));
  await site.send(site.targets, backlog, 4_000);
  for (const worker of site.workers) worker.start();
  await waitFor('the first to arrive', async () => (await countAt(site, others)) > wanted * 0.1, {
    timeoutMs: 60_000,
    everyMs: 10,
  });
  const first = await countAt(site, others);
  const startedAt = performance.now();
  await waitFor(
    'the backlog of the healthy endpoints',
    async () => (await countAt(site, others)) >= wanted * 0.95,
    {
      timeoutMs: 120_000,
      everyMs: 20,
    },
  );
  return (((await countAt(site, others)) - first) / (performance.now() - startedAt)) * 1_000;
}
