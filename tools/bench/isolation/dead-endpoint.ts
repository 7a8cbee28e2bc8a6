import { setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '@hqrelay/testing/wait-for';
import { rounded, type Line, type Scenario } from './scenario.ts';
import { createSite, type Site, type Target } from './site.ts';

const name = 'an endpoint dead for five minutes, four workers';
const probeIntervalSeconds = 30;

export const deadEndpoint: Scenario = {
  name,
  run: async (options) => {
    const count = options.quick ? 5_000 : 100_000;
    const seconds = options.quick ? 40 : 300;
    const site = await createSite({ ...options, targets: 2, workers: 4, retry: '5s,30s,5m,30m,1h' });
    try {
      const [, dead] = site.targets as [Target, Target];
      await site.answer({ [dead.path]: 'fail' });
      const startedAt = performance.now();
      const before = await published(site);
      await site.send([dead], count, 2_000);
      // The receiver's own publishes are not counted.
      await waitFor('the breaker to open', async () => (await breaker(site)) !== undefined, {
        timeoutMs: 60_000,
        everyMs: 100,
      });
      options.say(`open after ${rounded((performance.now() - startedAt) / 1_000)} s`);
      await waitFor('all to wait', async () => (await waiting(site)) >= count, {
        timeoutMs: 240_000,
        everyMs: 1_000,
      });
      options.say(`all wait after ${rounded((performance.now() - startedAt) / 1_000)} s`);
      await wait(3_000);
      await site.take();
      const probesFrom = performance.now();
      await wait(Math.max(10_000, startedAt + seconds * 1_000 - performance.now()));
      const probes = (await site.take())[dead.path]?.count ?? 0;
      const intervals = (performance.now() - probesFrom) / 1_000 / probeIntervalSeconds;
      const publishes = (await published(site)) - before - count;
      const perMessage = publishes / count;
      options.say(`${publishes} publishes for ${count} waiting, ${probes} probes`);
      await site.answer({});
      const backAt = performance.now();
      const backlog = await heldCount(site);
      await waitFor('the backlog to be released', async () => (await heldCount(site)) === 0, {
        timeoutMs: 420_000,
        everyMs: 250,
      });
      const backSeconds = (performance.now() - backAt) / 1_000;
      const lines: Line[] = [
        {
          scenario: name,
          figure: `publishes for each of ${count} waiting`,
          value: perMessage.toFixed(2),
          bound: 'at most 1',
          holds: perMessage <= 1,
        },
        {
          scenario: name,
          figure: `requests that probe it, in ${rounded(intervals)} intervals of ${probeIntervalSeconds} s`,
          value: String(probes),
          bound: 'at most 2 an interval',
          holds: probes <= 2 * Math.ceil(intervals),
        },
        {
          scenario: name,
          figure: `${backlog} held deliveries released after the endpoint answers again, s`,
          value: rounded(backSeconds),
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

async function breaker(site: Site): Promise<unknown> {
  const { rows } = await site.world.sql.query("select 1 from endpoint_breakers where state <> 'closed'");
  return rows[0];
}

/** Held, or in a delay of half a minute or more. */
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

/** By the broker's own count of this virtual host. */
async function published(site: Site): Promise<number> {
  const url = new URL(site.world.rabbitmqUrl);
  const { origin } = new URL(site.world.rabbitmqManagementUrl);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  const answer = await fetch(`${origin}/api/vhosts${url.pathname}`, { headers: { authorization } });
  const vhost = (await answer.json()) as { message_stats?: { publish?: number } };
  return vhost.message_stats?.publish ?? 0;
}
