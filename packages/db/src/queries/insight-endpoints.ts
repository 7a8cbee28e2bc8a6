import type { Queryable } from '../queryable.ts';
import { disabledBySql } from './disabled-by.ts';
import type { HoldReason } from './held-deliveries.ts';

export type InsightEndpoint = {
  id: string;
  url: string;
  timeoutMs: number;
  enabled: boolean;
  disabledBy: 'relay' | 'person' | null;
  paused: boolean;
  /** Null while its last attempt delivered. */
  failingSince: Date | null;
};

const endpointsMax = 200;

/** The endpoints of a project that are not archived, the oldest first, with what their breaker knows. */
export async function readInsightEndpoints(client: Queryable, projectId: string): Promise<InsightEndpoint[]> {
  const { rows } = await client.query<InsightEndpoint>(
    `select id, url, timeout_ms as "timeoutMs", enabled, ${disabledBySql} as "disabledBy", paused, failing_since as "failingSince"
     from endpoints left join endpoint_breakers b on b.endpoint_id = endpoints.id
     where project_id = $1 and archived_at is null order by created_at, id limit ${endpointsMax}`,
    [projectId],
  );
  return rows;
}

/** A period in ms since epoch, which names the partitions. */
export type InsightPeriod = { since: number; until: number };

const timesOf = ({ since, until }: InsightPeriod) => [new Date(since), new Date(until)] as const;

export type InsightFailures = {
  endpointId: string;
  statusCode: number | null;
  error: string | null;
  attempts: number;
  firstAt: Date;
  lastAt: Date;
  exampleIds: string[];
  responseBody: string | null;
};

/** The index `delivery_attempts_failures` reads so many rows of an endpoint, the newest first. */
const failuresExamined = 1_000;
const failuresOf = (columns: string) => `unnest($1::uuid[]) as e (id), lateral (
  select ${columns} from delivery_attempts
  where endpoint_id = e.id and status <> 'delivered' and attempted_at >= $2 and attempted_at < $3
  order by attempted_at desc limit ${failuresExamined}
) as a`;

/** The newest 1,000 failed attempts of each endpoint by status code and error, with the beginning of the newest answer of each. */
export async function readInsightFailures(
  client: Queryable,
  endpointIds: readonly string[],
  period: InsightPeriod,
): Promise<InsightFailures[]> {
  const { rows } = await client.query<InsightFailures>(
    `with failures as materialized (
       select a.* from ${failuresOf('endpoint_id, status_code, error, webhook_log_id, attempted_at, response_body')}
     ), of_webhook as (
       select endpoint_id, status_code, error, webhook_log_id, count(*)::int as attempts, min(attempted_at) as first_at,
         max(attempted_at) as last_at, (array_agg(left(response_body, 1000) order by attempted_at desc))[1] as response_body
       from failures group by 1, 2, 3, 4
     )
     select endpoint_id as "endpointId", status_code as "statusCode", error, sum(attempts)::int as attempts,
       min(first_at) as "firstAt", max(last_at) as "lastAt",
       (array_agg(webhook_log_id order by last_at desc, webhook_log_id desc))[1:3] as "exampleIds",
       (array_agg(response_body order by last_at desc, webhook_log_id desc))[1] as "responseBody"
     from of_webhook group by 1, 2, 3 order by attempts desc, 1, 2, 3`,
    [endpointIds, ...timesOf(period)],
  );
  return rows;
}

export type InsightSecondAttempts = {
  endpointId: string;
  recorded: number;
  delivered: number;
  exampleIds: string[];
};

/** Of the newest failed attempts of each endpoint: how many were first ones, and how many second ones delivered after them. */
export async function readInsightSecondAttempts(
  client: Queryable,
  endpointIds: readonly string[],
  period: InsightPeriod,
): Promise<InsightSecondAttempts[]> {
  const { rows } = await client.query<InsightSecondAttempts>(
    `select a.endpoint_id as "endpointId", count(*)::int as recorded, count(*) filter (where s.status = 'delivered')::int as delivered,
       (array_agg(a.webhook_log_id order by a.attempted_at desc) filter (where s.status = 'delivered'))[1:3] as "exampleIds"
     from ${failuresOf('endpoint_id, webhook_log_id, delivery_id, attempt_num, attempted_at')}
     join delivery_attempts s on s.webhook_log_id = a.webhook_log_id and s.delivery_id = a.delivery_id and s.attempt_num = 2
       and s.attempted_at >= $2 and s.attempted_at < $3
     where a.attempt_num = 1 group by 1`,
    [endpointIds, ...timesOf(period)],
  );
  return rows.map((row) => ({ ...row, exampleIds: row.exampleIds ?? [] }));
}

export type InsightWaiting = {
  endpointId: string;
  count: number;
  isCapped: boolean;
  oldestAt: Date;
  exampleIds: string[];
};

const waitingExamined = 2_000;

/** The open ones among the newest 2,000 dead letters of each endpoint. */
export async function readInsightDeadLetters(
  client: Queryable,
  endpointIds: readonly string[],
): Promise<InsightWaiting[]> {
  const { rows } = await client.query<InsightWaiting>(
    `select e.id as "endpointId", count(*)::int as count, min(d.dead_at) as "oldestAt",
       count(*) = ${waitingExamined} as "isCapped", (array_agg(d.webhook_log_id order by d.dead_at desc))[1:3] as "exampleIds"
     from unnest($1::uuid[]) as e (id), lateral (
       select webhook_log_id, dead_at, replayed_at, kind from dead_letters where endpoint_id = e.id
       order by dead_at desc limit ${waitingExamined}
     ) as d
     where d.replayed_at is null and d.kind = 'delivery' group by 1`,
    [endpointIds],
  );
  return rows;
}

/** How many deliveries of each endpoint are held for a reason, up to 2,000 of the oldest for each index. */
export async function readInsightHeld(
  client: Queryable,
  endpointIds: readonly string[],
): Promise<(InsightWaiting & { reason: Exclude<HoldReason, 'delay'> })[]> {
  const oldest = (reasons: string) => `select webhook_log_id, held_at, reason from (
      select webhook_log_id, held_at, reason from held_deliveries where endpoint_id = e.id and reason in (${reasons})
      order by webhook_log_id limit ${waitingExamined}
    ) as oldest`;
  const { rows } = await client.query<InsightWaiting & { reason: Exclude<HoldReason, 'delay'> }>(
    `select e.id as "endpointId", h.reason, count(*)::int as count, min(h.held_at) as "oldestAt",
       count(*) = ${waitingExamined} as "isCapped", (array_agg(h.webhook_log_id order by h.webhook_log_id))[1:3] as "exampleIds"
     from unnest($1::uuid[]) as e (id), lateral (
       ${oldest(`'paused', 'disabled', 'breaker'`)} union all ${oldest(`'delay', 'order'`)}
     ) as h
     where h.reason <> 'delay' group by 1, 2 order by 1, 2`,
    [endpointIds],
  );
  return rows;
}

/** For each endpoint the newest attempts of the period that took at least so many ms, of the newest 20,000 of the project. */
export async function readInsightSlowIds(
  client: Queryable,
  projectId: string,
  slow: readonly { endpointId: string; fromMs: number }[],
  period: InsightPeriod,
): Promise<{ endpointId: string; exampleIds: string[] }[]> {
  const { rows } = await client.query<{ endpointId: string; exampleIds: string[] }>(
    `select a.endpoint_id as "endpointId", (array_agg(a.webhook_log_id order by a.attempted_at desc))[1:3] as "exampleIds"
     from (
       select endpoint_id, webhook_log_id, latency_ms, attempted_at from delivery_attempts
       where project_id = $1 and attempted_at >= $2 and attempted_at < $3 order by attempted_at desc limit 20000
     ) as a join unnest($4::uuid[], $5::int[]) as s (endpoint_id, from_ms) on s.endpoint_id = a.endpoint_id and a.latency_ms >= s.from_ms
     group by 1`,
    [
      projectId,
      ...timesOf(period),
      slow.map(({ endpointId }) => endpointId),
      slow.map(({ fromMs }) => fromMs),
    ],
  );
  return rows;
}
