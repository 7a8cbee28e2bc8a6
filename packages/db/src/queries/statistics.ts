import { percentilesOf, type Percentiles } from '@hqrelay/domain/statistics/latency-histogram';
import { Parameters } from '../parameters.ts';
import type { Queryable } from '../queryable.ts';
import { attemptFacts, countAttempts } from './count-attempts.ts';
import type { WebhookStatus } from './webhooks.ts';

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
  const { starts, buckets, rowsOf } = sourcesOf(parameters, projectIds, span);
  const { rows } = await client.query<ReceivedCount>(
    `select project_id as "projectId", width_bucket(at, ${starts}) - 1 as step, status, sum(requests)::float8 as requests from (
       select project_id, bucket_at as at, status, requests from ${buckets('received_statistics')}
       union all
       select project_id, received_at, status, request_count from ${rowsOf('webhook_logs', 'received_at')}
     ) as parts group by 1, 2, 3`,
    parameters.values,
  );
  return rows;
}

export type AttemptCount = AttemptCounts & { projectId: string; step: number; endpointId: string | null };

export type AskedAttempts = {
  projectIds: readonly string[];
  endpointId?: string | undefined;
  byEndpoint: boolean;
  /** False leaves the percentiles out. */
  times?: boolean;
};

/**
 * The attempts of some projects, or of one of their endpoints, in each step (from 0); steps without any are left out. `endpointId`
 * is null unless they are counted by endpoint.
 */
export async function readAttemptCounts(
  client: Queryable,
  asked: AskedAttempts,
  span: Span,
): Promise<AttemptCount[]> {
  const parameters = new Parameters();
  const { starts, buckets, rowsOf } = sourcesOf(parameters, asked.projectIds, span);
  const endpoint =
    asked.endpointId === undefined ? '' : `and endpoint_id = ${parameters.add(asked.endpointId, 'uuid')}`;
  const histogram = (name: string) =>
    asked.times === false ? `''::bytea` : `string_agg(${name}_histogram, '')`;
  const group = asked.byEndpoint ? 'endpoint_id' : 'null::uuid';
  const { rows } = await client.query<AttemptRow>(
    `with ${countAttempts(`
       select project_id, width_bucket(attempted_at, ${starts}) - 1 as step, ${group} as endpoint_id, ${attemptFacts}
       from ${rowsOf('delivery_attempts', 'attempted_at')} ${endpoint}`)}
     select project_id as "projectId", step, endpoint_id as "endpointId", sum(delivered)::float8 as delivered,
       sum(failed)::float8 as failed, sum(dead_lettered)::float8 as dead_lettered,
       ${histogram('attempt')} as attempt, ${histogram('end_to_end')} as "endToEnd"
     from (
       select project_id, width_bucket(bucket_at, ${starts}) - 1 as step, ${group} as endpoint_id, delivered, failed, dead_lettered,
         attempt_histogram, end_to_end_histogram
       from ${buckets('attempt_statistics', endpoint)}
       union all select * from counted
     ) as parts group by 1, 2, 3`,
    parameters.values,
  );
  return rows.map(({ attempt, endToEnd, ...row }) => ({
    ...row,
    attemptMs: percentilesOf(attempt),
    endToEndMs: percentilesOf(endToEnd),
  }));
}

type AttemptRow = Omit<AttemptCount, 'attemptMs' | 'endToEndMs'> & { attempt: Buffer; endToEnd: Buffer };

/** FROM clauses of what is read. Each names the period, for the partitions, and the project, for the index. */
function sourcesOf(parameters: Parameters, projectIds: readonly string[], { starts, end, rowsFrom }: Span) {
  const first = starts[0] ?? end;
  const split = Math.min(Math.max(rowsFrom, first), end);
  const time = (at: number) => parameters.add(new Date(at), 'timestamptz');
  const [from, middle, to] = [time(first), time(split), time(end)];
  const ids = parameters.add([...new Set(projectIds)], 'uuid[]');
  return {
    starts: parameters.add(
      starts.map((at) => new Date(at).toISOString()),
      'timestamptz[]',
    ),
    // A look-up for each project: otherwise the planner may read the buckets of all.
    buckets: (table: string, condition = '') => `unnest(${ids}) as asked (id) cross join lateral (
         select * from ${table} where project_id = asked.id and bucket_at >= ${from} and bucket_at < ${middle} ${condition} offset 0
       ) as buckets`,
    rowsOf: (table: string, at: string) =>
      `${table} where project_id = any(${ids}) and ${at} >= ${middle} and ${at} < ${to}`,
  };
}
