import type { Queryable } from '../queryable.ts';
import { disabledBySql } from './disabled-by.ts';

/** What an operator should look at in a project. */
export type ProjectAttention = {
  /** Endpoints that the relay disabled after a 410. */
  disabledEndpoints: number;
  /** Endpoints whose breaker is open or half open. */
  openBreakers: number;
  /** Dead letters of the last 24 hours that were not replayed. */
  deadLetters: number;
  /** Whether there are more dead letters than were counted. */
  deadLettersCapped: boolean;
};

type Row = Omit<ProjectAttention, 'deadLettersCapped'> & { id: string };

const countedMax = 1_000;

/** For each of these projects, in one query. */
export async function readProjectAttention(
  client: Queryable,
  projectIds: readonly string[],
): Promise<Map<string, ProjectAttention>> {
  const { rows } = await client.query<Row>(
    `select p.id, e.disabled as "disabledEndpoints", e.open as "openBreakers", d.count as "deadLetters"
     from unnest($1::uuid[]) as p(id)
     cross join lateral (
       select count(*) filter (where not enabled and ${disabledBySql} = 'relay')::int as disabled,
         count(*) filter (where enabled and b.state <> 'closed')::int as open
       from endpoints left join endpoint_breakers b on b.endpoint_id = endpoints.id
       where project_id = p.id and archived_at is null
     ) as e
     cross join lateral (
       select count(*)::int as count from (
         select from dead_letters where project_id = p.id and kind = 'delivery' and replayed_at is null
           and dead_at > now() - interval '24 hours' limit $2
       ) as found
     ) as d`,
    [projectIds, countedMax],
  );
  return new Map(
    rows.map(({ id, ...counts }) => [id, { ...counts, deadLettersCapped: counts.deadLetters >= countedMax }]),
  );
}
