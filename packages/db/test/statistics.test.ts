import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendAudit, type AuditRow } from '../src/queries/append-audit.ts';
import { rollUpStatistics } from '../src/queries/roll-up-statistics.ts';
import { bucketMs, staleBuckets, startOfBucket } from '../src/queries/stale-statistics.ts';
import { readAttemptCounts, readCounted, readReceived } from '../src/queries/statistics.ts';
import { attemptRow, webhookRow } from './audit-rows.ts';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();
const { sql } = world;
const hourMs = 3_600_000;
const now = Date.now();
const statuses = ['queued', 'queued', 'queued', 'duplicate', 'rate_limited', 'rejected'] as const;
const outcomes = ['delivered', 'delivered', 'failed', 'dead_lettered'] as const;
const lanes = ['live', 'live', 'retry', 'replay'] as const;

beforeEach(async () => {
  await sql.query(
    'update statistics_progress set counted_from = $1, counted_to = $1, is_backfilled = false',
    [new Date(startOfBucket(now))],
  );
});

/** Rows of a project, spread over `hours` before `until`, in every status and lane. */
function rowsOf(projectId: string, count: number, { until = now - 2 * hourMs, hours = 30 } = {}): AuditRow[] {
  const endpoints = [freshId(), freshId()];
  return Array.from({ length: count }, (_, n) => {
    const at = Math.floor(until - (n / count) * hours * hourMs) - 1;
    const status = statuses[n % statuses.length] as (typeof statuses)[number];
    const requestCount = status === 'rate_limited' ? 7 : 1;
    const webhook = webhookRow(
      { id: newId(at), projectId, endpointIds: endpoints, status, requestCount },
      null,
    );
    const attempt = attemptRow(webhook.log, {
      id: newId(at + (n % 50) * 40),
      endpointId: endpoints[n % 2] as string,
      attemptNum: 1 + n,
      status: outcomes[(n >> 1) % outcomes.length] as (typeof outcomes)[number],
      lane: lanes[n % lanes.length] as (typeof lanes)[number],
      latencyMs: Math.round(3 * 1.017 ** (n % 500)),
    });
    return [webhook, attempt];
  }).flat();
}

async function rollUp(): Promise<number> {
  let count = 0;
  while (await rollUpStatistics(app)) count += 1;
  return count;
}

/** The counts of a histogram, which has a slot of two bytes before each. */
const countsOf = (histogram: string) =>
  `lateral (select ('x' || encode(substr(${histogram}, at + 2, 4), 'hex'))::bit(32)::int as n
     from generate_series(1, octet_length(${histogram}), 6) at) as`;

/** What the roll-ups have of a project, and what a full count of its rows gives. */
async function counts(projectId: string) {
  const rolledUp = await sql.query(
    `select (select json_object_agg(status, n order by status) from (
         select status, sum(requests) as n from received_statistics where project_id = $1 group by 1) r) as received,
       (select json_agg(a order by endpoint_id) from (
         select endpoint_id, sum(delivered) as delivered, sum(failed) as failed, sum(dead_lettered) as dead_lettered
         from attempt_statistics where project_id = $1 group by 1) a) as attempts,
       (select sum(n) from attempt_statistics, ${countsOf('attempt_histogram')} n where project_id = $1) as latencies,
       (select sum(n) from attempt_statistics, ${countsOf('end_to_end_histogram')} n where project_id = $1) as "endToEnd"`,
    [projectId],
  );
  const full = await sql.query(
    `select (select json_object_agg(status, n order by status) from (
         select status, sum(request_count) as n from webhook_logs where project_id = $1 group by 1) r) as received,
       (select json_agg(a order by endpoint_id) from (
         select endpoint_id, count(*) filter (where status = 'delivered') as delivered, count(*) filter (where status = 'failed') as failed,
           count(*) filter (where status = 'dead_lettered') as dead_lettered
         from delivery_attempts where project_id = $1 group by 1) a) as attempts,
       (select count(*) from delivery_attempts where project_id = $1) as latencies,
       (select count(*) from delivery_attempts where project_id = $1 and status = 'delivered' and lane <> 'replay') as "endToEnd"`,
    [projectId],
  );
  return { rolledUp: rolledUp.rows[0], full: full.rows[0] };
}

async function expectEqualCounts(projectId: string): Promise<void> {
  const { rolledUp, full } = await counts(projectId);
  expect(full.attempts).not.toBeNull();
  expect(rolledUp).toEqual(full);
}

describe('the statistics', () => {
  it('the history is counted from the newest bucket back to the first row, and equals a full count', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 1_000));
    await rollUp();
    await expectEqualCounts(projectId);
    expect(await readCounted(app)).toEqual({ from: null, to: startOfBucket(now) });
  });

  it('a bucket that has ended is counted ten minutes later, and the end of what is counted moves', async () => {
    const projectId = freshId();
    const start = startOfBucket(now) - 4 * bucketMs;
    await appendAudit(app, rowsOf(projectId, 200, { until: now - 1_000, hours: 1.5 }));
    await sql.query(
      'update statistics_progress set counted_from = $1, counted_to = $1, is_backfilled = true',
      [new Date(start)],
    );
    const before = Date.now();
    await rollUp();
    const { to } = await readCounted(app);
    expect(to).toBeLessThanOrEqual(Date.now() - 10 * 60_000);
    expect(to).toBeGreaterThan(before - 10 * 60_000 - bucketMs);
    const { rows } = await sql.query(
      `select sum(requests)::int as counted, (select sum(request_count)::int from webhook_logs
         where project_id = $1 and received_at < $2) as all from received_statistics where project_id = $1`,
      [projectId, new Date(to)],
    );
    expect(rows[0].counted).toBe(rows[0].all);
  });

  it('rows that arrive after their bucket was counted are counted in the next run, webhooks and attempts alike', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 100));
    await rollUp();
    await appendAudit(app, rowsOf(projectId, 300));
    expect((await counts(projectId)).rolledUp.latencies).toBe('100');
    expect(await rollUp()).toBeGreaterThan(10);
    await expectEqualCounts(projectId);
    expect((await sql.query('select from statistics_stale')).rowCount).toBe(0);
  });

  it('a row of a transaction that commits while its bucket is counted is counted again afterwards', async () => {
    const projectId = freshId();
    const [webhook, attempt] = rowsOf(projectId, 1) as [AuditRow, AuditRow];
    await appendAudit(app, [webhook, attempt]);
    await rollUp();
    const writer = await app.connect();
    await writer.query('begin');
    // A pool that has this one connection, in its transaction.
    await appendAudit(writer as never, rowsOf(projectId, 1));
    await appendAudit(app, rowsOf(projectId, 1));
    expect(await rollUp()).toBe(1);
    await writer.query('commit');
    writer.release();
    expect((await counts(projectId)).rolledUp.latencies).toBe('2');
    expect(await rollUp()).toBe(1);
    await expectEqualCounts(projectId);
  });

  it('a row before all that was counted moves the beginning, and one that comes when the history is counted is counted too', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 10));
    await rollUp();
    await appendAudit(app, rowsOf(projectId, 10, { until: now - 72 * hourMs, hours: 1 }));
    await rollUp();
    await expectEqualCounts(projectId);
  });

  it('several workers count each bucket once', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 200));
    await Promise.all([rollUp(), rollUp(), rollUp()]);
    await rollUp();
    await expectEqualCounts(projectId);
  });

  it('the merged percentiles are within 5 % of those of all rows', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 2_000));
    await rollUp();
    const first = startOfBucket(now - 48 * hourMs);
    const [merged] = await readAttemptCounts(
      app,
      { projectIds: [projectId], byEndpoint: false },
      { starts: [first], end: startOfBucket(now), rowsFrom: startOfBucket(now) },
    );
    const { rows } = await sql.query(
      `select percentile_disc(array[0.5, 0.95, 0.99]) within group (order by latency_ms) as attempt,
         percentile_disc(array[0.5, 0.95, 0.99]) within group (order by
           extract(epoch from attempted_at - hqrelay_time_of(webhook_log_id)) * 1000 + latency_ms)
           filter (where status = 'delivered' and lane <> 'replay') as "endToEnd"
       from delivery_attempts where project_id = $1`,
      [projectId],
    );
    const ratios = (found: object | null | undefined, exact: unknown[]) =>
      Object.values(found ?? {}).map((value, index) => Math.abs(Number(value) / Number(exact[index]) - 1));
    expect(Math.max(...ratios(merged?.attemptMs, rows[0].attempt))).toBeLessThan(0.05);
    expect(Math.max(...ratios(merged?.endToEndMs, rows[0].endToEnd))).toBeLessThan(0.05);
    expect(rows[0].endToEnd[1]).toBeGreaterThan(1_000);
  });

  it('buckets and rows of the last minutes together give each request once', async () => {
    const projectId = freshId();
    await appendAudit(app, rowsOf(projectId, 300, { until: now - 1_000, hours: 4 }));
    await rollUp();
    const starts = Array.from({ length: 12 }, (_, index) => startOfBucket(now) - (11 - index) * bucketMs);
    const span = { starts, end: startOfBucket(now) + bucketMs, rowsFrom: (await readCounted(app)).to };
    const received = await readReceived(app, [projectId], span);
    expect(received.reduce((sum, { requests }) => sum + requests, 0)).toBe(300 + 50 * 6);
    const attempts = await readAttemptCounts(app, { projectIds: [projectId], byEndpoint: false }, span);
    expect(
      attempts.reduce((sum, count) => sum + count.delivered + count.failed + count.dead_lettered, 0),
    ).toBe(300);
  });

  it('a row is late from a minute after the end of its bucket on, and marks nothing before', () => {
    const end = 1_000 * bucketMs;
    expect(staleBuckets([end - 1], end + 59_999)).toBeNull();
    expect(staleBuckets([end - 1, end, end - 2], end + 60_000)).toEqual([
      new Date(end - bucketMs).toISOString(),
    ]);
  });
});
