import { countMax } from '@hqrelay/domain/alerts/alert-message';
import type { Queryable } from '../queryable.ts';
import { inUse, readFacts, watched, type AlertFact } from './alert-facts.ts';
import type { Watcher } from './alert-states.ts';

/** Fewer deliveries that wait are no backlog. */
const waitingMin = 100;

const limited = (reasons: string) =>
  `(select count(*) from (select from held_deliveries h where h.endpoint_id = e.id and h.reason in (${reasons}) limit ${countMax}) as c)`;
/** Deliveries that wait in Postgres, but for those that a person holds back. One sum for each index. */
const waiting = `lateral (select (${limited("'delay', 'order'")} + ${limited("'breaker'")})::int as count) as waiting`;

/** Records every five minutes how many deliveries wait for each endpoint in use, and forgets what is older than an hour. */
export async function sampleBacklogs(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
): Promise<void> {
  if (watchers.length === 0) return;
  await client.query("delete from backlog_samples where sampled_at < $1::timestamptz - interval '1 hour'", [
    new Date(now),
  ]);
  await client.query(
    `${watched} insert into backlog_samples (endpoint_id, sampled_at, waiting)
     select distinct e.id, $2::timestamptz, waiting.count from w join endpoints e on e.project_id = w."projectId" and ${inUse}
     cross join ${waiting}
     where not exists (select from backlog_samples b where b.endpoint_id = e.id and b.sampled_at > $2::timestamptz - interval '5 minutes')
     on conflict do nothing`,
    [JSON.stringify(watchers.map(({ ruleId, projectId }) => ({ ruleId, projectId }))), new Date(now)],
  );
}

/**
 * Endpoints whose backlog grew from sample to sample over the last quarter of an hour, to at least a hundred. Once told it holds
 * until fewer wait.
 */
export function readBacklogFacts(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
): Promise<AlertFact[]> {
  return readFacts(
    client,
    `select w."ruleId", w."projectId", e.id as "endpointId", waiting.count, oldest.at as "firstAt", null::timestamptz as "lastAt",
       null::uuid as "firstExampleId", null::uuid as "lastExampleId",
       waiting.count || ' wait now' || coalesce(', ' || samples.counts[1] || ' waited a quarter of an hour ago', '') as reason
     from w join endpoints e on e.project_id = w."projectId" and ${inUse}
     left join alert_states s on s.rule_id = w."ruleId" and s.kind = 'backlog_growing' and s.subject_id = e.id
     cross join ${waiting}
     cross join lateral (
       select array_agg(b.waiting order by b.sampled_at) as counts from (
         select * from backlog_samples b where b.endpoint_id = e.id and b.sampled_at > $2::timestamptz - interval '21 minutes'
           and b.sampled_at <= $2 order by b.sampled_at desc limit 3
       ) as b
     ) as samples
     cross join lateral (
       select min(h.held_at) as at from (
         select held_at from held_deliveries h where h.endpoint_id = e.id and h.reason in ('delay', 'order', 'breaker')
         order by h.webhook_log_id limit 1) as h
     ) as oldest
     where waiting.count >= ${waitingMin} and (s.active_since is not null or (
       cardinality(samples.counts) = 3 and samples.counts[1] < samples.counts[2] and samples.counts[2] < samples.counts[3]
       and samples.counts[3] < waiting.count))`,
    watchers,
    now,
  );
}
