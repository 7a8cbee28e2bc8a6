import { countMax } from '@hqrelay/domain/alerts/alert-message';
import type { Queryable } from '../queryable.ts';
import { inUse, readFacts, watched, type AlertFact } from './alert-facts.ts';
import type { Watcher } from './alert-states.ts';

/** Fewer deliveries that wait are no backlog. */
const waitingMin = 100;
/** Webhooks of a project, and failed attempts of an endpoint, that are looked at for deliveries in the queues of the broker. */
const queuedExamined = 5_000;
/** Projects that one statement samples, so that it ends within its timeout; the others follow in the next evaluations. */
const projectsSampled = 20;

const held = (reasons: string) =>
  `(select count(*) from (select from held_deliveries h where h.endpoint_id = e.id and h.reason in (${reasons}) limit ${countMax}) as c)`;

/** Whether no such row exists, by a look-up for each: a join could read the rows of every project. */
const none = (rows: string) => `(select count(*) from (select from ${rows} limit 1) as found) = 0`;

/**
 * The relation `untried`: how many first attempts for each endpoint of these projects are neither made nor held, so that they wait in a
 * queue of the broker. An attempt that is under way, or waits to be recorded, is made within the half minute.
 */
const untried = (endpoints: string) => `untried as materialized (
  select owed.endpoint_id, count(*) as count
  from (select distinct project_id from ${endpoints}) as p
  cross join lateral (
    select l.id, l.endpoint_ids from webhook_logs l
    where l.project_id = p.project_id and l.status = 'queued' and l.received_at > $2::timestamptz - interval '1 hour'
      and l.received_at <= $2::timestamptz - interval '30 seconds'
    order by l.received_at desc limit ${queuedExamined}
  ) as l
  cross join lateral unnest(l.endpoint_ids) as owed (endpoint_id)
  where ${none(`delivery_attempts a where a.webhook_log_id = l.id and a.endpoint_id = owed.endpoint_id and a.lane <> 'replay'
      and a.attempted_at > $2::timestamptz - interval '2 hours' and a.attempted_at < $2::timestamptz + interval '1 hour'`)}
    and ${none('held_deliveries h where h.webhook_log_id = l.id and h.endpoint_id = owed.endpoint_id')}
    and ${none('delivery_decisions d where d.webhook_log_id = l.id and d.endpoint_id = owed.endpoint_id and d.cancelled_at is not null')}
  group by 1
)`;

/** Failed attempts of the last 70 minutes whose retry is neither made nor held: a retry waits in the broker for an hour at most. */
const retrying = `(
  select count(*) from (
    select a.webhook_log_id, a.delivery_id, a.attempt_num from delivery_attempts a
    where a.endpoint_id = e.id and a.status <> 'delivered' and a.status = 'failed'
      and a.attempted_at > $2::timestamptz - interval '70 minutes' and a.attempted_at <= $2
    order by a.attempted_at desc limit ${queuedExamined}
  ) as a
  where ${none(`delivery_attempts n where n.webhook_log_id = a.webhook_log_id and n.delivery_id = a.delivery_id
      and n.attempt_num > a.attempt_num and n.attempted_at > $2::timestamptz - interval '70 minutes'
      and n.attempted_at < $2::timestamptz + interval '1 hour'`)}
    and ${none('held_deliveries h where h.delivery_id = a.delivery_id')}
    and ${none('delivery_decisions d where d.delivery_id = a.delivery_id and d.cancelled_at is not null')}
)`;

/** Deliveries that wait for endpoint `e`, but for those that a person holds back. One sum for each index of the held ones. */
const waiting = `left join untried u on u.endpoint_id = e.id
  cross join lateral (
    select (${held("'delay', 'order'")} + ${held("'breaker'")} + coalesce(u.count, 0) + ${retrying})::int as count
  ) as waiting`;

/** Past the bound of what is examined a count does not grow any more. */
const grew = (before: string, after: string) => `(${before} < ${after} or ${after} >= ${queuedExamined})`;

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
    `${watched}, unsampled as materialized (
       select e.id, e.project_id, dense_rank() over (order by e.project_id) as nth
       from (select distinct "projectId" as id from w) as p join endpoints e on e.project_id = p.id and ${inUse}
       where not exists (
         select from backlog_samples b where b.endpoint_id = e.id and b.sampled_at > $2::timestamptz - interval '5 minutes')
     ), due as materialized (
       select id, project_id from unsampled where nth <= ${projectsSampled}
     ), ${untried('due')}
     insert into backlog_samples (endpoint_id, sampled_at, waiting)
     select e.id, $2::timestamptz, waiting.count from due e ${waiting} on conflict do nothing`,
    [JSON.stringify(watchers.map(({ ruleId, projectId }) => ({ ruleId, projectId }))), new Date(now)],
  );
}

/**
 * Endpoints whose backlog grew from sample to sample over the last quarter of an hour, to at least a hundred. Once told it holds
 * until fewer wait. Only of endpoints whose samples grew, or that were told, is it counted again.
 */
export function readBacklogFacts(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
): Promise<AlertFact[]> {
  return readFacts(
    client,
    `, candidate as materialized (
       select w."ruleId", e.project_id, e.id, s.active_since, samples.counts
       from w join endpoints e on e.project_id = w."projectId" and ${inUse}
       left join alert_states s on s.rule_id = w."ruleId" and s.kind = 'backlog_growing' and s.subject_id = e.id
       cross join lateral (
         select array_agg(b.waiting order by b.sampled_at) as counts from (
           select * from backlog_samples b where b.endpoint_id = e.id and b.sampled_at > $2::timestamptz - interval '21 minutes'
             and b.sampled_at <= $2 order by b.sampled_at desc limit 3
         ) as b
       ) as samples
       where s.active_since is not null or (
         cardinality(samples.counts) = 3 and ${grew('counts[1]', 'counts[2]')} and ${grew('counts[2]', 'counts[3]')})
     ), ${untried('candidate')}
     select e."ruleId", e.project_id as "projectId", e.id as "endpointId", waiting.count, oldest.at as "firstAt",
       null::timestamptz as "lastAt", null::uuid as "firstExampleId", null::uuid as "lastExampleId",
       waiting.count || ' wait now' || coalesce(', ' || e.counts[1] || ' waited a quarter of an hour ago', '') as reason
     from candidate e ${waiting}
     cross join lateral (
       select min(h.held_at) as at from (
         select held_at from held_deliveries h where h.endpoint_id = e.id and h.reason in ('delay', 'order', 'breaker')
         order by h.webhook_log_id limit 1) as h
     ) as oldest
     where waiting.count >= ${waitingMin} and (e.active_since is not null or ${grew('e.counts[3]', 'waiting.count')})`,
    watchers,
    now,
  );
}
