/** The columns of `delivery_attempts` that are counted. */
export const attemptFacts = 'status, lane, latency_ms, attempted_at, webhook_log_id';

const isEndToEnd = `status = 'delivered' and lane <> 'replay'`;
const endToEndMs = 'extract(epoch from attempted_at - hqrelay_time_of(webhook_log_id)) * 1000 + latency_ms';

/** Pairs of a slot and a count, as `percentilesOf` reads them. */
const histogramOf = (slot: string) => `
    select project_id, step, endpoint_id, string_agg(int2send(slot) || int4send(count), '') as histogram from (
      select project_id, step, endpoint_id, ${slot} as slot, count(*)::int as count from attempts
      where ${slot} is not null group by 1, 2, 3, 4
    ) as slots group by 1, 2, 3`;

/**
 * The CTE `counted`, behind the one that it needs: the attempts of a query, which has a `project_id`, `step` and `endpoint_id` and the
 * columns of `attemptFacts`, by those three. Counts and histograms are rows of their own, which have to be added up.
 */
export const countAttempts = (attempts: string): string => `
attempts as materialized (
  select project_id, step, endpoint_id, status, hqrelay_latency_slot(latency_ms) as attempt_slot,
    case when ${isEndToEnd} then hqrelay_latency_slot(${endToEndMs}) end as end_to_end_slot
  from (${attempts}) as a
), counted as (
  select project_id, step, endpoint_id, count(*) filter (where status = 'delivered')::int as delivered,
    count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'dead_lettered')::int as dead_lettered,
    ''::bytea as attempt_histogram, ''::bytea as end_to_end_histogram
  from attempts group by 1, 2, 3
  union all select project_id, step, endpoint_id, 0, 0, 0, histogram, '' from (${histogramOf('attempt_slot')}) as a
  union all select project_id, step, endpoint_id, 0, 0, 0, '', histogram from (${histogramOf('end_to_end_slot')}) as e
)`;
