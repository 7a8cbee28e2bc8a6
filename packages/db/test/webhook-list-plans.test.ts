import { createWorld, type World } from '@hqrelay/testing/world';
import { freshId } from '@hqrelay/testing/fresh-id';
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { WebhookFilter } from '../src/queries/webhook-filter.ts';
import { countWebhooks, readWebhookList } from '../src/queries/webhook-list.ts';
import { search } from '../src/queries/search.ts';

const now = Date.UTC(2026, 10, 20);
const dayMs = 86_400_000;
const big = freshId();
const endpointId = freshId();
let world: World;
let dead: string;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  const { sql } = world;
  for (const months of [0, 1, 2]) {
    await sql.query('select hqrelay_ensure_partition($1::timestamptz - make_interval(months => $2))', [
      new Date(now),
      months,
    ]);
  }
  // One project with 60,000 webhooks of 60 days, one in a thousand rejected, and 20 projects with 1,000 each.
  await seedProjectRow(sql);
  await sql.query(
    `insert into webhook_logs (id, project_id, webhook_id, event_type, status, reason, endpoint_ids, payload_bytes, correlation_id, received_at)
     select (substr(lpad(to_hex(ms), 12, '0'), 1, 12) || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
       case when n % 4 = 0 then md5((n % 20)::text)::uuid else $1::uuid end, 'evt-' || n, 'type.' || (n % 7),
       case when n % 1000 = 1 then 'rejected' else 'queued' end::webhook_status,
       case when n % 1000 = 1 then 'signature.mismatch' end, array[$2::uuid], 10, 'corr-' || n, to_timestamp(ms / 1000.0)
     from generate_series(1, 80000) n, lateral (select $3::bigint - n::bigint * 64800 as ms) t`,
    [big, endpointId, now],
  );
  await sql.query(
    `insert into dead_letters (id, kind, reason, project_id, webhook_log_id, endpoint_id, dead_at)
     select gen_random_uuid(), 'delivery', 'test', project_id, id, endpoint_ids[1], received_at from webhook_logs
     where right(id::text, 2) = '01'`,
  );
  // One webhook in 500 has failed, one in 1,000 is held; their error is of the oldest alone.
  await sql.query(
    `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status, status_code,
       latency_ms, error, correlation_id, attempted_at)
     select id, hqrelay_delivery_id(id, endpoint_ids[1]), id, project_id, endpoint_ids[1], 'live', 1, 'failed', 503, 10,
       case when webhook_id = 'evt-79502' then 'rare' else 'HTTP 503' end, 'corr', received_at
     from webhook_logs where substr(webhook_id, 5)::int % 500 = 2`,
  );
  await sql.query(
    'insert into endpoints (id, project_id, url, retry_schedule, timeout_ms) values ($1, $2, $3, $4, 1000)',
    [endpointId, big, 'https://example.com/', '{}'],
  );
  await sql.query(
    `insert into held_deliveries (delivery_id, webhook_log_id, endpoint_id, reason, due_at, held_at, queue, message)
     select hqrelay_delivery_id(id, $1), id, $1, (array['delay', 'paused'])[1 + substr(webhook_id, 5)::int / 1000 % 2]::hold_reason,
       now(), now(), 'q', '' from webhook_logs where project_id = $2 and substr(webhook_id, 5)::int % 1000 = 3`,
    [endpointId, big],
  );
  const { rows } = await sql.query<{ id: string }>(
    'select webhook_log_id as id from dead_letters where project_id = $1 limit 1',
    [big],
  );
  dead = rows[0]?.id as string;
  await sql.query('analyze');
});
afterAll(() => world.close());

const seedProjectRow = (sql: pg.Pool) =>
  sql.query(`insert into projects (id, name) values ($1, 'big')`, [big]);

type Plan = {
  nodes: { type: string; relation: string | undefined; index: string | undefined; rows: number }[];
};

/** Runs queries, and returns the executed plan of each. */
async function plansOf(run: (client: pg.Pool) => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await world.sql.query(`explain (analyze, format json, timing off) ${text}`, values);
      plans.push({ nodes: nodesOf(rows[0]['QUERY PLAN'][0].Plan) });
      return world.sql.query(text, values);
    },
  };
  await run(explaining as unknown as pg.Pool);
  return plans;
}

type RawPlan = Record<string, unknown> & { Plans?: RawPlan[] };

function nodesOf(plan: RawPlan): Plan['nodes'] {
  const node = {
    type: plan['Node Type'] as string,
    relation: plan['Relation Name'] as string | undefined,
    index: plan['Index Name'] as string | undefined,
    rows: (plan['Actual Rows'] as number) * (plan['Actual Loops'] as number),
  };
  // Partitions that were pruned while the statement ran are in the plan too.
  if (plan['Actual Loops'] === 0) return [];
  return [node, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

const page = { position: null, direction: 'older', limit: 50 } as const;
const period = { projectId: big, since: now - 90 * dayMs, until: now };

it.each<[what: string, filter: Partial<WebhookFilter>, rowsMax: number]>([
  ['no filter', {}, 60],
  ['a status that is rare', { status: 'rejected' }, 200],
  ['a reason', { reason: 'signature.mismatch' }, 200],
  ["a provider's id", { webhookId: 'evt-4711' }, 10],
  ['the state dead_lettered', { state: 'dead_lettered' }, 1_200],
  ['an event type', { eventType: 'type.3' }, 2_000],
  ['an event type that never came', { eventType: 'none' }, 3_001],
  ['a correlation id that a client chose', { correlationId: 'corr-4711' }, 10],
  ['a correlation id that never came', { correlationId: 'none' }, 1],
  ['a number of attempts that no delivery has', { minAttempts: 2 }, 1_000],
  ['an error that is rare', { error: 'rare' }, 1_000],
  ['a class of answers', { statusClass: '5xx' }, 1_000],
  ['no answer', { statusClass: 'none' }, 1_000],
  ['the state held', { state: 'held' }, 1_000],
  ['the state waiting', { state: 'waiting' }, 1_100],
])(
  'a list of webhooks with %s reads few rows of webhook_logs, and no partition as a whole',
  async (_what, filter, rowsMax) => {
    for (const { nodes } of await plansOf((client) =>
      readWebhookList(client, { ...period, ...filter }, page),
    )) {
      const scans = nodes.filter(({ relation }) => relation?.startsWith('webhook_logs'));
      expect(scans.filter(({ type }) => type === 'Seq Scan').filter(({ rows }) => rows > 0)).toEqual([]);
      const rows = scans.filter(({ type }) => type !== 'Bitmap Index Scan').map((scan) => scan.rows);
      expect(Math.max(...rows, 0)).toBeLessThanOrEqual(rowsMax);
    }
  },
);

it.each<[what: string, filter: Partial<WebhookFilter>, found: number]>([
  ['an error of the oldest webhook that failed', { error: 'rare' }, 1],
  ['a class of answers', { statusClass: '5xx' }, 200],
  ['the state held', { state: 'held' }, 200],
  ['a correlation id that a client chose', { correlationId: 'corr-4711' }, 1],
])('a list of webhooks with %s finds them all in its first page', async (_what, filter, found) => {
  const { rows } = await readWebhookList(world.sql, { ...period, ...filter }, { ...page, limit: 200 });
  const expected = await world.sql.query(
    `select count(*)::int as count from webhook_logs w where project_id = $1 and received_at between $2 and $3 and ${
      {
        error: `webhook_id = 'evt-79502'`,
        statusClass: 'substr(webhook_id, 5)::int % 500 = 2',
        state: 'substr(webhook_id, 5)::int % 1000 = 3',
        correlationId: `webhook_id = 'evt-4711'`,
      }[Object.keys(filter)[0] as 'error']
    }`,
    [big, new Date(period.since), new Date(period.until)],
  );
  expect(rows).toHaveLength(expected.rows[0].count);
  expect(rows.length).toBeGreaterThanOrEqual(Math.min(found, 50));
});

it('a list of one month reads the partition of that month alone', async () => {
  const month = { ...period, since: Date.UTC(2026, 10, 2), until: Date.UTC(2026, 10, 3) };
  for (const { nodes } of await plansOf((client) => readWebhookList(client, month, page))) {
    const relations = new Set(
      nodes.map(({ relation }) => relation).filter((name) => name?.startsWith('webhook_logs')),
    );
    expect([...relations]).toEqual(['webhook_logs_2026_11']);
  }
});

it('a count stops at its bound', async () => {
  expect(await countWebhooks(world.sql, { ...period })).toEqual({ count: 10_000, capped: true });
  expect(await countWebhooks(world.sql, { ...period, status: 'rejected' })).toEqual({
    count: 80,
    capped: false,
  });
});

it.each<[what: string, q: () => string]>([
  ['the id of a webhook', () => dead],
  ["a provider's id", () => 'evt-4711'],
  ['a text that is nowhere', () => 'nowhere'],
])('a search for %s over all projects reads no table as a whole', async (_what, q) => {
  for (const { nodes } of await plansOf((client) =>
    search(client, { q: q(), projectId: null, searchPayloads: true }),
  )) {
    const whole = nodes.filter(
      ({ type, relation, rows }) => type === 'Seq Scan' && relation?.startsWith('webhook_') && rows > 2_000,
    );
    expect(whole).toEqual([]);
  }
});
