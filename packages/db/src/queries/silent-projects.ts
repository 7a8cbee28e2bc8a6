import type { Queryable } from '../queryable.ts';

/** A request that came from the provider, also where the relay could not take it. */
export const isReceived = (status: string) => `${status} <> 'rejected'`;

export type SilentProject = {
  projectId: string;
  /** The first hour without a webhook in which some were expected. */
  hourAt: Date;
  expected: number;
};

/**
 * Projects without a webhook since the beginning of an hour, of the last 24 that are complete, in which at least ten were expected:
 * the mean of the same hour of the same weekday (of UTC) in the four weeks before. It needs a history of four weeks, and webhooks at
 * that hour in three of them: one burst is no rhythm.
 */
export async function listSilentProjects(
  client: Queryable,
  now: number,
  /** Of these alone; all projects when not given. */
  projectIds?: readonly string[],
): Promise<SilentProject[]> {
  const { rows } = await client.query<SilentProject>(
    `with hour as (select date_trunc('hour', $1::timestamptz at time zone 'UTC') at time zone 'UTC' as ends),
     candidate as materialized (
       select p.id, hour.ends from projects p cross join hour
       where p.enabled and p.archived_at is null and ($2::uuid[] is null or p.id = any($2))
         and exists (select from received_statistics t where t.project_id = p.id
           and t.bucket_at < hour.ends - interval '671 hours' and ${isReceived('t.status')})
         and not exists (select from webhook_logs l where l.project_id = p.id and l.received_at >= hour.ends - interval '1 hour'
           and l.received_at <= $1 and ${isReceived('l.status')})
     )
     select c.id as "projectId", h.at as "hourAt", h.expected::float8 as expected from candidate c
     cross join lateral (
       select a.at, sum(t.requests) / 4.0 as expected
       from (select c.ends - n * interval '1 hour' as at from generate_series(1, 24) as n) as a
       cross join generate_series(1, 4) as week
       join received_statistics t on t.project_id = c.id and t.bucket_at >= a.at - week * interval '168 hours'
         and t.bucket_at < a.at - week * interval '168 hours' + interval '1 hour' and ${isReceived('t.status')}
       group by a.at having sum(t.requests) >= 40 and count(distinct week) >= 3
     ) as h
     where not exists (select from webhook_logs l where l.project_id = c.id and l.received_at >= h.at and l.received_at <= $1
       and ${isReceived('l.status')})
     order by c.id, h.at`,
    [new Date(now), projectIds ?? null],
  );
  const first = new Map<string, SilentProject>();
  for (const row of rows) if (!first.has(row.projectId)) first.set(row.projectId, row);
  return [...first.values()];
}
