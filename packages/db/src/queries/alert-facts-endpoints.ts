import { relayFaults } from '@hqrelay/domain/delivery/attempt-outcome';
import { countMax } from '@hqrelay/domain/alerts/alert-message';
import type { Queryable } from '../queryable.ts';
import { inUse, readFacts, type AlertFact } from './alert-facts.ts';
import type { Watcher } from './alert-states.ts';

type ReadFacts = (client: Queryable, watchers: readonly Watcher[], now: number) => Promise<AlertFact[]>;

const endpointInUse = `w join endpoints e on e.project_id = w."projectId" and ${inUse}`;

const open = `dead_letters d where d.endpoint_id = e.id and d.kind = 'delivery' and d.replayed_at is null and d.dead_at >= w.since`;
const lastFailure = `lateral (
  select a.error, a.webhook_log_id from delivery_attempts a where a.endpoint_id = e.id and a.status <> 'delivered'
    and a.attempted_at between $2::timestamptz - interval '7 days' and $2 order by a.attempted_at desc limit 1
) as failure`;

/** Dead letters since the rule was made that are neither replayed nor cancelled. */
export const readDeadLetterFacts: ReadFacts = (client, watchers, now) =>
  readFacts(
    client,
    `select w."ruleId", w."projectId", e.id as "endpointId", f.count, f.first as "firstAt", f.last as "lastAt",
       (select d.webhook_log_id from ${open} order by d.dead_at limit 1) as "firstExampleId",
       (select d.webhook_log_id from ${open} order by d.dead_at desc limit 1) as "lastExampleId",
       coalesce(failure.error, 'schedule used up') as reason
     from ${endpointInUse}
     cross join lateral (
       select count(*)::int as count, min(dead_at) as first, max(dead_at) as last
       from (select d.dead_at from ${open} order by d.dead_at limit ${countMax + 1}) as counted
     ) as f
     left join ${lastFailure} on true
     where f.count > 0`,
    watchers,
    now,
  );

/**
 * Endpoints whose breaker has been open for five minutes, and endpoints that are too quiet for a breaker: their last three first
 * attempts failed, and nothing was delivered since. A failure of the relay's own is none of theirs.
 */
export const readFailingFacts: ReadFacts = async (client, watchers, now) => {
  const open = await readFacts(client, breakerOpen, watchers, now, relayFaults);
  const failing = new Set(open.map(({ ruleId, endpointId }) => `${ruleId} ${endpointId}`));
  const quiet = await readFacts(client, quietAndFailing, watchers, now, relayFaults);
  return [...open, ...quiet.filter(({ ruleId, endpointId }) => !failing.has(`${ruleId} ${endpointId}`))];
};

const breakerOpen = `
select w."ruleId", w."projectId", e.id as "endpointId", b.failures as count, b.failing_since as "firstAt", null::timestamptz as "lastAt",
  null::uuid as "firstExampleId", failure.webhook_log_id as "lastExampleId", coalesce(failure.error, '') as reason
from ${endpointInUse}
join endpoint_breakers b on b.endpoint_id = e.id and b.state <> 'closed' and b.opened_at <= $2::timestamptz - interval '5 minutes'
left join ${lastFailure} on true
where failure.error is null or failure.error <> all($3)`;

/** The roll-ups bound the rows that are searched for a delivery. */
const quietAndFailing = `
, candidate as materialized (
  select w."ruleId", w."projectId", e.id as "endpointId", t.*
  from ${endpointInUse}
  cross join lateral (
    select count(*)::int as count, min(attempted_at) as first, max(attempted_at) as last,
      (array_agg(webhook_log_id order by attempted_at))[1] as first_id, (array_agg(webhook_log_id order by attempted_at desc))[1] as last_id,
      (array_agg(error order by attempted_at desc))[1] as error
    from (
      select r.* from (
        select a.attempted_at, a.webhook_log_id, a.error, a.attempt_num, a.lane from delivery_attempts a
        where a.endpoint_id = e.id and a.status <> 'delivered' and a.attempted_at between $2::timestamptz - interval '7 days' and $2
        order by a.attempted_at desc limit 500
      ) as r
      where r.attempt_num = 1 and r.lane = 'live' and coalesce(r.error, '') <> all($3) order by r.attempted_at desc limit 3
    ) as latest
  ) as t
  where t.count = 3 and not exists (
    select from attempt_statistics s where s.project_id = w."projectId" and s.endpoint_id = e.id and s.delivered > 0
      and s.bucket_at > t.first)
)
select "ruleId", "projectId", "endpointId", count, first as "firstAt", last as "lastAt", first_id as "firstExampleId",
  last_id as "lastExampleId", coalesce(error, '') as reason
from candidate c cross join statistics_progress progress
where not exists (
  select from delivery_attempts d where d.project_id = c."projectId" and d.endpoint_id = c."endpointId" and d.status = 'delivered'
    and d.attempted_at > c.first and d.attempted_at <= c.first + interval '30 minutes')
and not exists (
  select from delivery_attempts d where d.project_id = c."projectId" and d.endpoint_id = c."endpointId" and d.status = 'delivered'
    and d.attempted_at > c.first and (d.attempted_at >= progress.counted_to
      or (not progress.is_backfilled and d.attempted_at < progress.counted_from)))`;

/** Endpoints that the relay disabled after a 410. */
export const readDisabledFacts: ReadFacts = (client, watchers, now) =>
  readFacts(
    client,
    `select w."ruleId", w."projectId", e.id as "endpointId", 1 as count,
       (select l.created_at from admin_log l where l.target = e.id::text and l.action = 'endpoint.disable' order by l.id desc limit 1)
         as "firstAt",
       null::timestamptz as "lastAt", null::uuid as "firstExampleId", null::uuid as "lastExampleId",
       coalesce(e.disabled_reason, 'HTTP 410') as reason
     from w join endpoints e on e.project_id = w."projectId" and not e.enabled and e.disabled_by = 'relay' and not e.paused
       and e.archived_at is null
     where $2::timestamptz is not null`,
    watchers,
    now,
  );
