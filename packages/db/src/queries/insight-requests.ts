import type { Queryable } from '../queryable.ts';
import type { InsightPeriod } from './insight-endpoints.ts';
import type { WebhookStatus } from './webhooks.ts';

/** How many rows of a project each statement reads, the newest first. */
const rowsExamined = 5_000;

type OfProject = { projectId: string; period: InsightPeriod };

const valuesOf = ({ projectId, period }: OfProject) => [
  projectId,
  new Date(period.since),
  new Date(period.until),
];
const rowsOf = (columns: string, condition = '') => `select ${columns} from webhook_logs
  where project_id = $1 and received_at >= $2 and received_at < $3 ${condition} order by received_at desc limit ${rowsExamined}`;

export type InsightNotQueued = {
  status: Exclude<WebhookStatus, 'queued'>;
  /** The code of the reason. */
  code: string | null;
  requests: number;
  addresses: number;
  firstAt: Date;
  lastAt: Date;
  exampleIds: string[];
};

/** Requests that were not queued, by status and the code of their reason, of the newest 5,000 such rows. */
export async function readInsightNotQueued(client: Queryable, asked: OfProject): Promise<InsightNotQueued[]> {
  const { rows } = await client.query<InsightNotQueued>(
    `select status, split_part(reason, ' ', 1) as code, sum(request_count)::float8 as requests,
       count(distinct remote_addr)::int as addresses, min(received_at) as "firstAt", max(received_at) as "lastAt",
       (array_agg(id order by received_at desc, id desc))[1:3] as "exampleIds"
     from (${rowsOf('id, status, reason, request_count, remote_addr, received_at', `and status <> 'queued'`)}) as newest
     group by 1, 2 order by requests desc, 1, 2 limit 20`,
    valuesOf(asked),
  );
  return rows;
}

export type InsightUntaken = {
  eventType: string | null;
  webhooks: number;
  exampleIds: string[];
  examined: number;
};

/** The event types of accepted webhooks that are owed to no endpoint, of the newest 5,000 requests. */
export async function readInsightUntaken(client: Queryable, asked: OfProject): Promise<InsightUntaken[]> {
  const { rows } = await client.query<InsightUntaken>(
    `with newest as materialized (${rowsOf('id, status, event_type, endpoint_ids, received_at')})
     select event_type as "eventType", count(*)::int as webhooks, (select count(*)::int from newest) as examined,
       (array_agg(id order by received_at desc, id desc))[1:3] as "exampleIds"
     from newest where status = 'queued' and endpoint_ids = '{}' group by 1 order by 2 desc, 1 limit 10`,
    valuesOf(asked),
  );
  return rows;
}

export type InsightMinute = { at: Date; requests: number; exampleIds: string[] };

/** The minute of a period of half an hour in which a project received most, as far as 100,000 rows of it tell. */
export async function readInsightBusiestMinute(
  client: Queryable,
  asked: OfProject,
): Promise<InsightMinute | null> {
  const { rows } = await client.query<InsightMinute>(
    `select date_trunc('minute', received_at) as at, count(*)::int as requests,
       (array_agg(id order by received_at desc, id desc))[1:3] as "exampleIds"
     from (
       select id, received_at, status from webhook_logs
       where project_id = $1 and received_at >= $2 and received_at < $3 order by received_at desc limit 100000
     ) as newest where status = 'queued' group by 1 order by 2 desc, 1 limit 1`,
    valuesOf(asked),
  );
  return rows[0] ?? null;
}

/** The newest accepted webhooks of a period. */
export async function readInsightNewestIds(client: Queryable, asked: OfProject): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from (${rowsOf('id, status, received_at')}) as newest where status = 'queued' order by received_at desc, id desc limit 3`,
    valuesOf(asked),
  );
  return rows.map(({ id }) => id);
}
