import { setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '@hqrelay/testing/wait-for';
import { rounded, type Line, type Scenario, type ScenarioOptions } from './scenario.ts';
import { createSite, type Site, type Target } from './site.ts';

const name = 'an endpoint dead for five minutes, four workers';
const probeIntervalSeconds = 30;

export const deadEndpoint: Scenario = {
  name,
  run: async (options) => {
    const site = await createSite({ ...options, targets: 2, workers: 4, retry: '5s,30s,5m,30m,1h' });
    try {
      const count = options.quick ? 5_000 : 100_000;
      const [, dead] = site.targets as [Target, Target];
      const startedAt = performance.now();
      await site.answer({ [dead.path]: 'fail' });
      const before = await published(site);
      await sendUntilAllWait(site, dead, count, options.say);
      const probes = await countProbes(site, dead, startedAt + (options.quick ? 40 : 300) * 1_000);
      // The receiver's own publishes are not counted.
      const publishes = (await published(site)) - before - count;
      options.say(`${publishes} publishes for ${count} waiting, ${probes.count} probes`);
      await site.answer({});
      return linesOf(count, publishes, probes, await releaseBacklog(site));
    } finally {
      await site.close();
    }
  },
};

async function sendUntilAllWait(
  site: Site,
  dead: Target,
  count: number,
  say: ScenarioOptions['say'],
): Promise<void> {
  const startedAt = performance.now();
  const seconds = () => rounded((performance.now() - startedAt) / 1_000);
  await site.send([dead], count, 2_000);
  await waitFor('the breaker to open', async () => (await breaker(site)) !== undefined, {
    timeoutMs: 60_000,
    everyMs: 100,
  });
  say(`open after ${seconds()} s`);
  await waitFor('all to wait', async () => (await waiting(site)) >= count, {
    timeoutMs: 240_000,
    everyMs: 1_000,
  });
  say(`all wait after ${seconds()} s`);
}

type Probes = { count: number; intervals: number };

/** The requests that reach the endpoint until a time, by `performance.now`, and for ten seconds at least. */
async function countProbes(site: Site, dead: Target, until: number): Promise<Probes> {
  await wait(3_000);
  await site.take();
  const from = performance.now();
  await wait(Math.max(10_000, until - from));
  const count = (await site.take())[dead.path]?.count ?? 0;
  return { count, intervals: (performance.now() - from) / 1_000 / probeIntervalSeconds };
}

/** How many deliveries are held, and how long their release takes. */
async function releaseBacklog(site: Site): Promise<{ held: number; seconds: number }> {
  const from = performance.now();
  const held = await heldCount(site);
  await waitFor('the backlog to be released', async () => (await heldCount(site)) === 0, {
    timeoutMs: 420_000,
    everyMs: 250,
  });
  return { held, seconds: (performance.now() - from) / 1_000 };
}

function linesOf(
  count: number,
  publishes: number,
  probes: Probes,
  backlog: { held: number; seconds: number },
): Line[] {
  const perMessage = publishes / count;
  return [
    {
      scenario: name,
      figure: `publishes for each of ${count} waiting`,
      value: perMessage.toFixed(2),
      bound: 'at most 1',
      holds: perMessage <= 1,
    },
    {
      scenario: name,
      figure: `requests that probe it, in ${rounded(probes.intervals)} intervals of ${probeIntervalSeconds} s`,
      value: String(probes.count),
      bound: 'at most 2 an interval',
      holds: probes.count <= 2 * Math.ceil(probes.intervals),
    },
    {
      scenario: name,
      figure: `${backlog.held} held deliveries released after the endpoint answers again, s`,
      value: rounded(backlog.seconds),
      bound: '',
      holds: true,
    },
  ];
}

async function breaker(site: Site): Promise<unknown> {
  const { rows } = await site.world.sql.query("select 1 from endpoint_breakers where state <> 'closed'");
  return rows[0];
}

/** Deliveries that are held, or in a delay of half a minute or more. */
async function waiting(site: Site): Promise<number> {
  const { rows } = await site.world.sql.query<{ count: number }>(
    `select (select count(*) from held_deliveries)::int +
       (select count(*) from delivery_attempts where next_attempt_at > now())::int as count`,
  );
  return rows[0]?.count ?? 0;
}

async function heldCount(site: Site): Promise<number> {
  const { rows } = await site.world.sql.query<{ count: number }>(
    "select count(*)::int as count from held_deliveries where reason = 'breaker'",
  );
  return rows[0]?.count ?? 0;
}

/** Publishes to this virtual host, as the broker counts them. */
async function published(site: Site): Promise<number> {
  const url = new URL(site.world.rabbitmqUrl);
  const { origin } = new URL(site.world.rabbitmqManagementUrl);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const answer = await fetch(`${origin}/api/vhosts${url.pathname}`, { headers: { authorization } });
  const vhost = (await answer.json()) as { message_stats?: { publish?: number } };
  return vhost.message_stats?.publish ?? 0;
}
