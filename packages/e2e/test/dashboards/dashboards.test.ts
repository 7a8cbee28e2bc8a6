import { isDeepStrictEqual } from 'node:util';
import type { SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accepted, attempts, expectedPanels, failed, heldByWorker } from './expected-panels.ts';
import { hangingEndpoints, load, sendHanging, sendLoad, type Sent } from './observed-load.ts';
import {
  expressionsOf,
  isSql,
  legendOf,
  panels,
  sqlOf,
  type Panel,
} from '@hqrelay/testing/dashboards/panels';
import { openPrometheusWorld, type PrometheusWorld } from './prometheus-world.ts';

let world: PrometheusWorld;
let sent: Sent;
/** When every panel is asked, ms since epoch. */
let at: number;
/** The time from before the load until then: the rates count all of it. */
let rateSeconds: number;

/** What Prometheus has when every webhook of the load has met its fate. */
const whenSent = {
  'sum(hqrelay_webhooks_received_total)': accepted + load.duplicates + load.rejected,
  'sum(hqrelay_delivery_attempts_total)': attempts,
  'min(hqrelay_dead_letters)': load.failing,
  // While dead letters move from the queue to the table, the gauge may count some of them twice.
  'max(hqrelay_dead_letters)': load.failing,
  'max(hqrelay_queue_depth{queue="hqrelay.dead-letter"})': 0,
  'min(sum by (instance) (hqrelay_held_deliveries))': load.paused,
  'min(hqrelay_queue_depth{queue="hqrelay.delay.10m"})': load.delayed,
  // A worker may have measured before its last message moved, and a busy machine may make a store look down for a moment.
  'sum(hqrelay_queue_depth{queue!="hqrelay.delay.10m"})': 0,
  'sum(hqrelay_queue_oldest_age_seconds)': 0,
  'sum(hqrelay_deliveries_in_flight)': 0,
  'sum(hqrelay_outbox_depth)': 0,
  'min(hqrelay_dependency_up)': 1,
  'sum(up)': 5,
};

async function scraped(when: number): Promise<Record<string, number | undefined>> {
  const values = Object.keys(whenSent).map(
    async (each) => [each, (await world.query(each, when))[0]?.value] as const,
  );
  return Object.fromEntries(await Promise.all(values));
}

beforeAll(async () => {
  world = await openPrometheusWorld();
  await waitFor('the counters at 0', async () => {
    const samples = await world.query('sum(count_over_time(hqrelay_webhooks_received_total[1m]))');
    return (samples[0]?.value ?? 0) >= 12;
  });
  const startedAt = Date.now();
  sent = await sendLoad(world);
  at = await waitFor(
    'the load in Prometheus',
    async () => {
      const when = Date.now();
      const values = await scraped(when);
      if (isDeepStrictEqual(values, whenSent)) return when;
      throw new Error(JSON.stringify(values));
    },
    { timeoutMs: 180_000, everyMs: 250 },
  );
  rateSeconds = Math.max(60, Math.ceil((at - startedAt) / 1_000) + 10);
});

afterAll(async () => {
  await sent?.close();
  await world?.close();
});

const fromPrometheus = panels.filter((panel) => expressionsOf(panel).length > 0);

/** The figures of a panel by their legends. */
async function show(panel: Panel, when: number): Promise<Record<string, number>> {
  const shown: Record<string, number> = {};
  for (const [legend, expression] of expressionsOf(panel, `${rateSeconds}s`)) {
    for (const { labels, value } of await world.query(expression, when))
      shown[legendOf(legend, labels)] = value;
  }
  return shown;
}

describe('the panels that ask Prometheus', () => {
  it('each panel has a description and an expectation here', () => {
    expect(fromPrometheus.filter(({ description }) => !description)).toEqual([]);
    const titles = new Set(fromPrometheus.map(({ title }) => title));
    expect([...titles].toSorted()).toEqual(Object.keys(expectedPanels(world, rateSeconds)).toSorted());
  });

  it.each(fromPrometheus)('the panel $title shows the figures of the load', async (panel) => {
    const shown = await show(panel, at);
    const expected = expectedPanels(world, rateSeconds)[panel.title] ?? {};
    expect(Object.keys(shown).toSorted()).toEqual(Object.keys(expected).toSorted());
    const wrong = Object.entries(shown).filter(([legend, value]) => !expected[legend]?.(value));
    expect(wrong).toEqual([]);
  });

  it('gauges of shared state become the same from every worker', async () => {
    for (const gauge of [
      'hqrelay_queue_depth',
      'hqrelay_held_deliveries',
      'hqrelay_dead_letters',
      'hqrelay_outbox_depth',
    ]) {
      // One worker may have measured before the last message moved.
      await waitFor(
        `${gauge} to be the same from every worker`,
        async () => {
          const values = await world.query(gauge);
          const different = await world.query(
            `max without (instance) (${gauge}) != min without (instance) (${gauge})`,
          );
          const instances = new Set(values.map(({ labels }) => labels['instance']));
          return instances.size === world.workers.length && different.length === 0;
        },
        { everyMs: 250 },
      );
    }
  });
});

describe('while deliveries wait behind endpoints that do not answer', () => {
  it('the panels show how many messages wait, for how long, and what is in flight', async () => {
    const { sentAt, close } = await sendHanging(world);
    const waiting = 'hqrelay_queue_depth{queue="hqrelay.webhooks"}';
    const age = 'hqrelay_queue_oldest_age_seconds{queue="hqrelay.webhooks"}';
    const inQueueMax = hangingEndpoints - world.workers.length * heldByWorker;
    const conditions = [
      // A worker may have measured before both had taken as many as they hold.
      `${waiting} > 0 and ${waiting} <= ${inQueueMax}`,
      `${age} > 1`,
      `hqrelay_deliveries_in_flight == ${heldByWorker}`,
    ];
    // The endpoints do not answer for two minutes.
    const when = await waitFor(
      'the workers to measure the backlog',
      async () => {
        const asked = Date.now();
        const samples = await Promise.all(conditions.map((each) => world.query(each, asked)));
        return samples.every(({ length }) => length === world.workers.length) && asked;
      },
      { timeoutMs: 110_000, everyMs: 250 },
    );
    const panelOf = (title: string) =>
      show(
        fromPrometheus.find((each) => each.title === title)!,
        when,
      );
    const depth = (await panelOf('Waiting messages'))['hqrelay.webhooks'];
    expect(depth).toBeGreaterThan(0);
    expect(depth).toBeLessThanOrEqual(inQueueMax);
    for (const [title, legend] of [
      ['Oldest new webhook', 'age'],
      ['Oldest message', 'hqrelay.webhooks'],
    ] as const) {
      const seconds = (await panelOf(title))[legend];
      expect(seconds).toBeGreaterThan(1);
      expect(seconds).toBeLessThanOrEqual((when - sentAt) / 1_000 + 1);
    }
    const inFlight = Object.values(await panelOf('Deliveries in flight'));
    expect(inFlight).toEqual(world.workers.map(() => heldByWorker));
    await close();
  });
});

type Row = Readonly<Record<string, unknown>>;

const fromPostgres = panels.filter(isSql);

/** The SQL of a panel for the load, and the answer of `hqrelay_reader` to it. */
async function ask(title: string, prefix = ''): Promise<Row[]> {
  const panel = fromPostgres.find((each) => each.title === title);
  const projectIds = Object.values(sent.projects).map(({ id }) => id);
  const to = new Date(at + 60_000);
  const sql = panel && sqlOf(panel, { from: new Date(at - 600_000), to, projectIds, webhook: sent.failedId });
  const client = await world.sql.connect();
  try {
    await client.query('set role hqrelay_reader');
    return (await client.query<Row>(`${prefix} ${sql}`)).rows;
  } finally {
    await client.query('reset role');
    client.release();
  }
}

const named = (project: SeededProject) => `project ${project.id}`;
const host = expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string;

describe('the panels that ask Postgres', () => {
  beforeAll(async () => {
    // The rows of repeated requests are written a second later, and those that Postgres took too late are written again.
    await waitFor('the rows of all requests and attempts', async () => {
      const refused = (await ask('Requests by project')).some(
        (row) => Number(row['refused']) === load.rejected,
      );
      const { rowCount } = await world.sql.query('select from delivery_attempts where project_id = any($1)', [
        Object.values(sent.projects).map(({ id }) => id),
      ]);
      return refused && rowCount === attempts;
    });
  });

  it('"Failures by endpoint" counts the failed attempts of each endpoint, with its last error', async () => {
    expect(await ask('Failures by endpoint')).toMatchObject([
      {
        project: named(sent.projects.failing),
        host,
        failed: String(2 * load.failing),
        attempts: String(2 * load.failing),
        'failed %': '100.0',
        'last error': 'HTTP 400',
      },
      { project: named(sent.projects.delayed), failed: String(load.delayed), attempts: String(load.delayed) },
    ]);
  });

  it('"Slowest endpoints" has the endpoint that takes two seconds first', async () => {
    const [slowest, ...others] = await ask('Slowest endpoints');
    expect(slowest).toMatchObject({
      project: named(sent.projects.fine),
      host,
      attempts: String(load.delivered),
    });
    expect(Number(slowest?.['p50 ms'])).toBeGreaterThanOrEqual(1_995);
    expect(others).toHaveLength(2);
  });

  it('"Failed attempts" has every failed attempt in its minute', async () => {
    const rows = await ask('Failed attempts');
    expect(rows.reduce((sum, row) => sum + Number(row['failed']), 0)).toBe(failed + load.failing);
    expect(rows.every(({ time }) => Math.abs(Number(time) * 1_000 - at) < rateSeconds * 1_000 + 60_000)).toBe(
      true,
    );
  });

  it('"Requests by project" counts requests by outcome, with the most frequent reason of a refusal', async () => {
    const rows = await ask('Requests by project');
    expect(rows).toHaveLength(Object.keys(sent.projects).length);
    expect(rows[0]).toEqual({
      project: named(sent.projects.fine),
      accepted: String(load.delivered),
      duplicates: String(load.duplicates),
      refused: String(load.rejected),
      'most frequent reason': 'signature.mismatch',
    });
  });

  it('from "Latest failed attempts" an operator gets to the history and the log lines of a webhook', async () => {
    const latest = await ask('Latest failed attempts');
    expect(latest).toHaveLength(failed + load.failing);
    const row = latest.find(({ webhook }) => webhook === sent.failedId);
    expect(row).toMatchObject({ host, HTTP: 400, error: 'HTTP 400' });
    const history = await ask('History of the webhook');
    expect(history.map(({ what }) => what)).toEqual([
      'received: queued',
      'attempt 1: failed',
      'attempt 2: dead_lettered',
      'dead letter',
    ]);
    const correlationId = row?.['correlation'];
    const lines = [world.receiver, ...world.workers].flatMap(({ logs }) =>
      logs.filter((line) => line['correlationId'] === correlationId).map(({ msg }) => msg),
    );
    expect(lines).toEqual(['webhook.received', 'delivery.attempted', 'delivery.attempted']);
  });

  it.each(fromPostgres)(
    'the panel $title reads the partitions of its period alone',
    async ({ title, description }) => {
      expect(description).toBeTruthy();
      const plan = (await ask(title, 'explain')).map((row) => String(row['QUERY PLAN'])).join('\n');
      const months = [
        ...plan.matchAll(/(?:webhook_logs|webhook_payloads|delivery_attempts|replays)_(\d{4}_\d{2})/g),
      ];
      expect(months.length).toBeGreaterThan(0);
      const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7).replace('-', '_');
      const ofPeriod = [monthOf(at - 3_600_000), monthOf(at + 60_000)];
      expect(months.filter(([, month]) => !ofPeriod.includes(month ?? ''))).toEqual([]);
    },
  );
});
