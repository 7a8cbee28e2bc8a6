import type { Queryable } from '../queryable.ts';

export type SummaryKey = { projectId: string; questionId: string };

/** The statements that a model wrote for this question; undefined when it was not answered yet. */
export async function readInsightSummary(
  client: Queryable,
  { projectId, questionId }: SummaryKey,
): Promise<unknown> {
  const { rows } = await client.query<{ statements: unknown }>(
    'select statements from insight_summaries where project_id = $1 and question_id = $2',
    [projectId, questionId],
  );
  return rows[0]?.statements;
}

const keptDays = 30;

/** Stores the statements for a question, and deletes those that are older than 30 days. */
export async function storeInsightSummary(
  client: Queryable,
  { projectId, questionId, model, statements }: SummaryKey & { model: string; statements: object },
): Promise<void> {
  await client.query(
    `with old as (
       delete from insight_summaries where project_id = $1 and created_at < now() - interval '${keptDays} days'
     )
     insert into insight_summaries (project_id, question_id, model, statements) values ($1, $2, $3, $4)
     on conflict (project_id, question_id) do nothing`,
    [projectId, questionId, model, JSON.stringify(statements)],
  );
}

export type InsightBounds = { requestsPerDay: number; tokensPerDay: number };

export type InsightClaim =
  | { kind: 'claimed'; day: string }
  /** Another request is under way, or the last one failed a moment ago, and why. */
  | { kind: 'wait'; failure: string | null }
  /** The bound of the day is used up. */
  | { kind: 'spent' };

const today = `(now() at time zone 'UTC')::date`;

/**
 * Reserves one request with so many tokens for a project, unless another one is under way in any process. It counts as under way for
 * `leaseMs`, so that a process that crashes blocks no other for longer.
 */
export async function claimInsightRequest(
  client: Queryable,
  projectId: string,
  { tokens, leaseMs, bounds }: { tokens: number; leaseMs: number; bounds: InsightBounds },
): Promise<InsightClaim> {
  const { rows } = await client.query<{ day: string }>(
    `insert into insight_usage as u (project_id, day, requests, tokens, next_at)
     select $1, ${today}, 1, $2::bigint, now() + make_interval(secs => $3) where $2::bigint <= $5
     on conflict (project_id, day) do update set requests = u.requests + 1, tokens = u.tokens + excluded.tokens,
       next_at = excluded.next_at, failure = null
     where (u.next_at is null or u.next_at <= now()) and u.requests < $4 and u.tokens + excluded.tokens <= $5
     returning day::text`,
    [projectId, tokens, leaseMs / 1_000, bounds.requestsPerDay, bounds.tokensPerDay],
  );
  if (rows[0]) return { kind: 'claimed', day: rows[0].day };
  const { rows: waiting } = await client.query<{ failure: string | null }>(
    `select failure from insight_usage where project_id = $1 and day = ${today} and next_at > now()`,
    [projectId],
  );
  return waiting[0] ? { kind: 'wait', failure: waiting[0].failure } : { kind: 'spent' };
}

/** Ends a claimed request: what it really cost, and how long no other is made after one that failed. */
export async function endInsightRequest(
  client: Queryable,
  {
    projectId,
    day,
    unusedTokens,
    failure,
    pauseMs,
  }: {
    projectId: string;
    day: string;
    /** Of the reserved tokens; negative when it cost more. */
    unusedTokens: number;
    failure: string | null;
    pauseMs: number;
  },
): Promise<void> {
  await client.query(
    `update insight_usage set tokens = tokens - $3::bigint, failure = $4,
       next_at = case when $4::text is null then null else now() + make_interval(secs => $5) end
     where project_id = $1 and day = $2`,
    [projectId, day, unusedTokens, failure, pauseMs / 1_000],
  );
}
