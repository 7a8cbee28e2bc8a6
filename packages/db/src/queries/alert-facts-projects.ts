import type { Queryable } from '../queryable.ts';
import { readFacts, type AlertFact } from './alert-facts.ts';
import type { Watcher } from './alert-states.ts';
import { isReceived, type SilentProject } from './silent-projects.ts';

/** Where fewer are rejected in half an hour, nothing is concluded. */
const rejectionsMin = 5;

/**
 * Projects with a jump of requests that are rejected for their signature: in the last half hour over three times the mean of the day
 * before the alert. Once told it holds until fewer than the minimum are rejected.
 */
export function readRejectionFacts(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
): Promise<AlertFact[]> {
  return readFacts(
    client,
    `select w."ruleId", w."projectId", null::uuid as "endpointId", r.count, r.first as "firstAt", r.last as "lastAt",
       r.first_id as "firstExampleId", r.last_id as "lastExampleId", coalesce(r.reason, '') as reason
     from w left join alert_states s on s.rule_id = w."ruleId" and s.kind = 'signature_rejections' and s.subject_id = w."projectId"
     cross join lateral (
       select coalesce(sum(l.request_count), 0)::int as count, min(l.received_at) as first, max(l.received_at) as last,
         (array_agg(l.id order by l.received_at))[1] as first_id, (array_agg(l.id order by l.received_at desc))[1] as last_id,
         mode() within group (order by l.reason) as reason
       from webhook_logs l where l.project_id = w."projectId" and l.status <> 'queued' and l.status = 'rejected'
         and l.reason like 'signature.%' and l.received_at > $2::timestamptz - interval '30 minutes' and l.received_at <= $2
     ) as r
     cross join lateral (select coalesce(s.active_since, $2) - interval '30 minutes' as until) as anchor
     cross join lateral (
       select coalesce(sum(t.requests), 0) / 48.0 as mean from received_statistics t
       where t.project_id = w."projectId" and t.status = 'rejected'
         and t.bucket_at >= anchor.until - interval '24 hours' and t.bucket_at < anchor.until - interval '30 minutes'
     ) as before
     where r.count >= ${rejectionsMin} and (s.active_since is not null or r.count > 3 * before.mean)`,
    watchers,
    now,
  );
}

/** Of the projects that used 80 % of their rate limit in the last minute, as Redis knows them. */
export function readNearLimitFacts(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
  nearIds: readonly string[],
): Promise<AlertFact[]> {
  return readFacts(
    client,
    `select w."ruleId", w."projectId", null::uuid as "endpointId", l.count, null::timestamptz as "firstAt",
       null::timestamptz as "lastAt", null::uuid as "firstExampleId", null::uuid as "lastExampleId",
       '80 % of ' || p.rate_limit_per_minute || ' a minute is used; ' || l.count || ' requests of the last 15 minutes were answered 429'
         as reason
     from w join projects p on p.id = w."projectId" and p.rate_limit_per_minute is not null
     cross join lateral (
       select coalesce(sum(x.request_count), 0)::int as count from webhook_logs x where x.project_id = w."projectId"
         and x.status <> 'queued' and x.status = 'rate_limited'
         and x.received_at > $2::timestamptz - interval '15 minutes' and x.received_at <= $2
     ) as l
     where w."projectId" = any($3::uuid[])`,
    watchers,
    now,
    nearIds,
  );
}

/** Projects that are silent, and those that were told silent and have received nothing since. */
export async function readSilentFacts(
  client: Queryable,
  watchers: readonly Watcher[],
  now: number,
  silent: readonly SilentProject[],
): Promise<AlertFact[]> {
  return readFacts(
    client,
    `select w."ruleId", w."projectId", null::uuid as "endpointId", 0 as count, q."hourAt" as "firstAt", null::timestamptz as "lastAt",
       null::uuid as "firstExampleId", null::uuid as "lastExampleId",
       case when q."projectId" is null then 'no webhook since the alert'
         else 'no webhook in the hour from ' || to_char(q."hourAt" at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC, where '
           || round(q.expected) || ' came at this hour of the week on average' end as reason
     from w left join json_to_recordset($3::json) as q("projectId" uuid, "hourAt" timestamptz, expected numeric)
       on q."projectId" = w."projectId"
     left join alert_states s on s.rule_id = w."ruleId" and s.kind = 'project_silent' and s.subject_id = w."projectId"
     where q."projectId" is not null or (s.active_since is not null and not exists (
       select from webhook_logs l where l.project_id = w."projectId" and l.received_at > s.active_since and l.received_at <= $2
         and ${isReceived('l.status')}))`,
    watchers,
    now,
    JSON.stringify(silent),
  );
}
