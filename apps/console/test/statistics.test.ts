import { appendAudit } from '@hqrelay/db/queries/append-audit';
import { ensurePartition } from '@hqrelay/db/queries/partitions';
import { rollUpStatistics } from '@hqrelay/db/queries/roll-up-statistics';
import { deliveryId, newId } from '@hqrelay/domain/ids';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { beforeAll, describe, expect, it } from 'vitest';
import { openConsoleWorld } from './console-world.ts';

const { sql, get, post, makeKey, createProject } = await openConsoleWorld();
const hourMs = 3_600_000;
let projectId: string;
let path: string;
const endpoints: string[] = [];
const now = Date.now();
/** In a month before, so that no late row is among those of the other tests. */
const march = Date.UTC(2026, 2, 1);

async function receive(
  at: number,
  statuses: ('delivered' | 'failed' | 'dead_lettered')[] = [],
  latencyMs = 100,
) {
  const id = newId(at);
  await recordWebhook(sql, { id, projectId, endpointIds: endpoints }, null);
  await appendAudit(
    sql,
    statuses.map((status, index) => ({
      kind: 'attempt',
      attempt: {
        id: newId(at + 1),
        deliveryId: deliveryId(id, endpoints[index % 2] as string),
        webhookLogId: id,
        projectId,
        endpointId: endpoints[index % 2] as string,
        lane: 'live',
        attemptNum: index + 1,
        status,
        statusCode: 200,
        latencyMs,
        error: null,
        responseBody: null,
        correlationId: 'test',
        nextAttemptAt: null,
      },
    })),
  );
}

type Point = {
  at: string;
  received: { queued: number; rate_limited: number };
  delivered: number;
  failed: number;
  deadLettered: number;
  attemptMs: { p95: number } | null;
};

const statistics = async (query: string) => (await get(`${path}?${query}`)).body;
const pointsOf = async (query: string) => (await statistics(query)).series[0].points as Point[];

beforeAll(async () => {
  projectId = await createProject();
  path = `/api/v1/projects/${projectId}/statistics`;
  for (const index of [0, 1]) {
    const added = await post(`/api/v1/projects/${projectId}/endpoints`, {
      url: `http://127.0.0.1:9/${index}`,
    });
    endpoints.push(added.body.endpoint.id);
  }
  await ensurePartition(sql, march);
  const halves = Array.from({ length: 31 * 48 }, (_, half) => newId(march + half * 1_800_000 + 1));
  await Promise.all(halves.map((id) => recordWebhook(sql, { id, projectId }, null)));
  await receive(now - 3 * hourMs, ['delivered', 'failed']);
  await receive(now - 60_000, ['failed', 'delivered', 'dead_lettered'], 2_000);
  await recordWebhook(sql, { projectId, status: 'rate_limited', requestCount: 41 }, null);
  while (await rollUpStatistics(sql));
});

describe('statistics', () => {
  it('the last day has a point for each hour, with counts up to this minute and zeros where nothing came', async () => {
    const { series, asOf, countedFrom, step, seriesOmitted } = await statistics('');
    expect({ countedFrom, step, seriesOmitted }).toEqual({ countedFrom: null, step: '1h', seriesOmitted: 0 });
    expect(Date.parse(asOf)).toBeGreaterThanOrEqual(now);
    const points = series[0].points as Point[];
    expect(points.length).toBeGreaterThanOrEqual(25);
    const sum = (count: (point: Point) => number) => points.reduce((total, point) => total + count(point), 0);
    expect(sum(({ received }) => received.queued)).toBe(2);
    expect(sum(({ received }) => received.rate_limited)).toBe(41);
    expect(sum(({ delivered }) => delivered)).toBe(2);
    expect(sum(({ failed }) => failed)).toBe(2);
    expect(sum(({ deadLettered }) => deadLettered)).toBe(1);
    expect(points[0]).toMatchObject({ delivered: 0, attemptMs: null });
    expect(points.at(-1)?.attemptMs?.p95 ?? points.at(-2)?.attemptMs?.p95).toBeGreaterThan(1_900);
  });

  it('days are those of the time zone, 30 minutes off the hour and with 23 hours in spring', async () => {
    const period = 'since=2026-03-28T00:00:00%2B01:00&until=2026-03-31T00:00:00%2B02:00&step=1d';
    const berlin = await pointsOf(`${period}&timeZone=Europe/Berlin`);
    expect(berlin.map(({ at, received }) => [at, received.queued])).toEqual([
      ['2026-03-27T23:00:00.000Z', 48],
      ['2026-03-28T23:00:00.000Z', 46],
      ['2026-03-29T22:00:00.000Z', 48],
    ]);
    const india = await pointsOf(
      'since=2026-03-10T00:00:00%2B05:30&until=2026-03-12T00:00:00%2B05:30&step=1d&timeZone=Asia/Kolkata',
    );
    expect(india.map(({ at, received }) => [at, received.queued])).toEqual([
      ['2026-03-09T18:30:00.000Z', 48],
      ['2026-03-10T18:30:00.000Z', 48],
    ]);
    const hours = await pointsOf(
      'since=2026-03-10T00:00:00Z&until=2026-03-10T02:00:00Z&step=1h&timeZone=Asia/Kolkata',
    );
    expect(hours.map(({ at }) => at.slice(11, 16))).toEqual(['23:30', '00:30', '01:30']);
  });

  it('weeks begin on Monday', async () => {
    const weeks = await pointsOf('since=2026-03-04T00:00:00Z&until=2026-03-16T00:00:00Z&step=1w');
    expect(weeks.map(({ at, received }) => [at.slice(0, 10), received.queued])).toEqual([
      ['2026-03-02', 7 * 48],
      ['2026-03-09', 7 * 48],
    ]);
  });

  it('steps of minutes are counted from rows, of 24 hours at most', async () => {
    const [since, until] = [now - 180_000, now].map((ms) => new Date(ms).toISOString());
    const points = await pointsOf(`since=${since}&until=${until}&step=1m`);
    expect(points.reduce((sum, { received }) => sum + received.queued, 0)).toBe(1);
    expect(points.length).toBeLessThanOrEqual(6);
    expect(await get(`${path}?since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:01Z&step=10m`)).toMatchObject(
      {
        statusCode: 400,
        body: { error: { code: 'statistics.period' } },
      },
    );
  });

  it('the attempts of one endpoint, and a series for each', async () => {
    const one = await statistics(`endpointId=${endpoints[0]}`);
    expect(one.series).toHaveLength(1);
    expect(one.series[0].endpointId).toBe(endpoints[0]);
    expect((one.series[0].points as Point[]).reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1);
    const each = await statistics('groupBy=endpoint');
    expect(each.series.map((series: { endpointId: string }) => series.endpointId)).toEqual(endpoints);
    expect(each.series[1].points.at(-1).received).toBeNull();
    const other = await createProject();
    expect((await get(`/api/v1/projects/${other}/statistics?endpointId=${endpoints[0]}`)).statusCode).toBe(
      404,
    );
  });

  it.each([
    ['since=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z&step=30m', 'statistics.too_many'],
    ['since=2000-01-01T00:00:00Z&step=1d', 'statistics.too_many'],
    ['timeZone=Europe/Atlantis', 'statistics.unknown_zone'],
    ['timeZone=Europe/Atlantis&step=1d', 'statistics.unknown_zone'],
    ['timeZone=Asia/Kathmandu&step=1d', 'statistics.uneven_zone'],
    ['since=2026-03-01T00:00:00Z&until=2026-03-01T00:00:00Z', 'statistics.period'],
    ['step=2h', 'request.invalid'],
    ['endpointId=x', 'request.invalid'],
  ])('statistics with %s are answered 400 %s', async (query, code) => {
    expect(await get(`${path}?${query}`)).toMatchObject({ statusCode: 400, body: { error: { code } } });
  });

  it('a step that is not counted has no point, neither before the history is counted nor when the job is a day behind', async () => {
    const { rows } = await sql.query('select counted_from, counted_to from statistics_progress');
    const set = (from: unknown, to: unknown, isBackfilled: boolean) =>
      sql.query('update statistics_progress set counted_from = $1, counted_to = $2, is_backfilled = $3', [
        from,
        to,
        isBackfilled,
      ]);
    await set('2026-03-10T00:00:00Z', rows[0].counted_to, false);
    const early = await statistics('since=2026-03-08T00:00:00Z&until=2026-03-12T00:00:00Z&step=1d');
    expect(early.countedFrom).toBe('2026-03-10T00:00:00.000Z');
    expect(early.series[0].points).toHaveLength(2);
    await set('2026-03-10T00:00:00Z', new Date(now - 30 * hourMs), true);
    const late = await statistics('step=1h');
    expect(late).toMatchObject({ asOf: new Date(now - 30 * hourMs).toISOString(), series: [{ points: [] }] });
    await set(rows[0].counted_from, rows[0].counted_to, true);
  });

  it('the list of projects has the last day of each project that the key sees, in hours', async () => {
    const quiet = await createProject();
    const { items } = (await get('/api/v1/projects?include=statistics')).body;
    const lines = new Map(
      items.map((item: { id: string; statistics: unknown }) => [item.id, item.statistics]),
    );
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    const line = lines.get(projectId) as Record<'received' | 'rejected' | 'delivered' | 'failed', number[]>;
    expect(line.received).toHaveLength(24);
    expect([line.received, line.rejected, line.delivered, line.failed].map(sum)).toEqual([43, 41, 2, 3]);
    expect(sum((lines.get(quiet) as typeof line).received)).toBe(0);
    const key = await makeKey('viewer', { projectId });
    expect((await get('/api/v1/projects?include=statistics', { key })).body.items).toHaveLength(1);
    expect((await get('/api/v1/projects')).body.items[0].statistics).toBeUndefined();
  });
});
