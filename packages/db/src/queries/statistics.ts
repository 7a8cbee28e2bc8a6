import { Parameters } from '../parameters.ts';
import type { Queryable } from '../queryable.ts';

import type { WebhookStatus } from './webhooks.ts';

/** In ms. */
export type Percentiles = { p50: number; p95: number; p99: number };

export type AttemptCounts = {
  delivered: number;
  failed: number;
  dead_lettered: number;
  /** Null where there is no attempt, or none that delivered. */
  attemptMs: Percentiles | null;
  endToEndMs: Percentiles | null;
};

/** `at`: how far the counts go, in ms since epoch; `from`: where they begin, null when they have all rows. */
export type Counted = { from: number | null; to: number };

/** The period that is to be read: the starts of its steps and its end, in ms since epoch, and what is read from rows. */
export type Span = {
  starts: readonly number[];
  end: number;
  /** Buckets before this are read, rows from it on. */
  rowsFrom: number;
};

export async function readCounted(client: Queryable): Promise<Counted> {
  const { rows } = await client.query<{ from: Date; to: Date; isBackfilled: boolean }>(
    'select counted_from as "from", counted_to as "to", is_backfilled as "isBackfilled" from statistics_progress',
  );
  const row = rows[0];
  if (!row) throw new Error('statistics_progress has no row');
  return { from: row.isBackfilled ? null : row.from.getTime(), to: row.to.getTime() };
}

export type ReceivedCount = { projectId: string; step: number; status: WebhookStatus; requests: number };

/** The requests of some projects in each step (from 0) by status; steps without any are left out. */
export async function readReceived(
  client: Queryable,
  projectIds: readonly string[],
  span: Span,
): Promise<ReceivedCount[]> {
  const parameters = new Parameters();
  const { starts, projects, period } = conditionsOf(parameters, projectIds, span);
  const { rows } = await client.query<ReceivedCount>(
    `select project_id as "projectId", width_bucket(at, ${starts}) - 1 as step, status, sum(requests)::float8 as requests from (
       select project_id, bucket_at as at, status, requests from received_statistics
       where ${projects} and ${period.buckets}
       union all
       select project_id, received_at, status, request_count from webhook_logs where ${projects} and ${period.rows('received_at')}
     ) as parts group by 1, 2, 3`,
    parameters.values,
  );
  return rows;
}

export type AttemptCount = AttemptCounts & { projectId: string; step: number; endpointId: string | null };

/**
 * The attempts of some projects, or of one of their endpoints, in each step (from 0); steps without any are left out. `endpointId`
 * is null unless they are counted by endpoint.
 */
export async function readAttemptCounts(
  client: Queryable,
  asked: { projectIds: readonly string[]; endpointId?: string | undefined; byEndpoint: boolean },
  span: Span,
): Promise<AttemptCount[]> {
  const parameters = new Parameters();
  const { starts, projects, period } = conditionsOf(parameters, asked.projectIds, span);
  const endpoint =
    asked.endpointId === undefined ? '' : `and endpoint_id = ${parameters.add(asked.endpointId, 'uuid')}`;
  const group = asked.byEndpoint ? 'endpoint_id' : 'null::uuid';
  const { rows } = await client.query<AttemptRow>(
    `with parts as materialized (
       select project_id, width_bucket(bucket_at, ${starts}) - 1 as step, ${group} as endpoint_id, delivered, failed, dead_lettered,
         attempt_slots, attempt_counts, end_to_end_slots, end_to_end_counts
       from attempt_statistics where ${projects} and ${period.buckets} ${endpoint}
       union all
       select project_id, width_bucket(attempted_at, ${starts}) - 1, ${group}, (status = 'delivered')::int, (status = 'failed')::int,
         (status = 'dead_lettered')::int, array[hqrelay_latency_slot(latency_ms)], array[1],
         case when ${isEndToEnd} then array[${endToEndSlot}] end, array[1]
       from delivery_attempts where ${projects} and ${period.rows('attempted_at')} ${endpoint}
     ), sums as (
       select project_id, step, endpoint_id, sum(delivered)::float8 as delivered, sum(failed)::float8 as failed,
         sum(dead_lettered)::float8 as dead_lettered
       from parts group by 1, 2, 3
     ), ${percentilesOf('attempt')}, ${percentilesOf('end_to_end')}
     select s.project_id as "projectId", s.step, s.endpoint_id as "endpointId", s.delivered, s.failed, s.dead_lettered,
       a.ms as "attemptMs", e.ms as "endToEndMs"
     from sums s
     left join attempt a on (a.project_id, a.step) = (s.project_id, s.step) and a.endpoint_id is not distinct from s.endpoint_id
     left join end_to_end e on (e.project_id, e.step) = (s.project_id, s.step) and e.endpoint_id is not distinct from s.endpoint_id`,
    parameters.values,
  );
  return rows.map((row) => ({
    ...row,
    attemptMs: percentiles(row.attemptMs),
    endToEndMs: percentiles(row.endToEndMs),
  }));
}

type AttemptRow = Omit<AttemptCount, 'attemptMs' | 'endToEndMs'> & {
  attemptMs: number[] | null;
  endToEndMs: number[] | null;
};

/** Of a row of `delivery_attempts`. */
export const isEndToEnd = `status = 'delivered' and lane <> 'replay'`;
export const endToEndSlot =
  'hqrelay_latency_slot(extract(epoch from attempted_at - hqrelay_time_of(webhook_log_id)) * 1000 + latency_ms)';

/** Adds the histograms of the parts, and takes the middle of the slot that each percentile lies in. */
function percentilesOf(name: 'attempt' | 'end_to_end'): string {
  const percentile = (share: number) =>
    `power(1.05, min(slot) filter (where upto >= ceil(total * ${share})) - 0.5)::float8`;
  return `${name} as (
    select project_id, step, endpoint_id, array[${[0.5, 0.95, 0.99].map(percentile).join(', ')}] as ms from (
      select project_id, step, endpoint_id, slot, sum(sum(count)) over (partition by project_id, step, endpoint_id order by slot) as upto,
        sum(sum(count)) over (partition by project_id, step, endpoint_id) as total
      from parts, unnest(${name}_slots, ${name}_counts) as h (slot, count) where slot is not null group by 1, 2, 3, 4
    ) as ranked group by 1, 2, 3
  )`;
}

function percentiles(ms: number[] | null): Percentiles | null {
  if (!ms) return null;
  const [p50, p95, p99] = ms.map((value) => Math.max(1, Math.round(value * 10) / 10)) as [
    number,
    number,
    number,
  ];
  return { p50, p95, p99 };
}

/** Every condition names the period, for the partitions, and the project, for the index. */
function conditionsOf(
  parameters: Parameters,
  projectIds: readonly string[],
  { starts, end, rowsFrom }: Span,
) {
  const first = starts[0] ?? end;
  const split = Math.min(Math.max(rowsFrom, first), end);
  const time = (at: number) => parameters.add(new Date(at), 'timestamptz');
  const [from, middle, to] = [time(first), time(split), time(end)];
  return {
    starts: parameters.add(
      starts.map((at) => new Date(at).toISOString()),
      'timestamptz[]',
    ),
    projects: `project_id = any(${parameters.add(projectIds, 'uuid[]')})`,
    period: {
      buckets: `bucket_at >= ${from} and bucket_at < ${middle}`,
      rows: (at: string) => `${at} >= ${middle} and ${at} < ${to}`,
    },
  };
}
