import type pg from 'pg';
import { readKeysetPage, type PageRequest } from '../keyset-page.ts';
import type { Queryable } from '../queryable.ts';
import { endpointColumns, type Endpoint } from './endpoints.ts';
import type { HoldReason } from './held-deliveries.ts';

/** An endpoint, the state of its breaker, and how many of its deliveries are held for which reason. */
export type ListedEndpoint = Endpoint & {
  breaker: {
    state: 'closed' | 'open' | 'half_open';
    /** Consecutive ones. */
    failures: number;
    failingSince: Date | null;
    /** When one delivery may try the endpoint again; null while the breaker is closed. */
    probeAt: Date | null;
  };
  held: Partial<Record<HoldReason, number>>;
};

/** The endpoints of one project, or of all of them, the oldest first; archived ones only if they are asked for. */
export async function listEndpoints(
  pool: pg.Pool,
  { projectId, archivedToo }: { projectId: string | undefined; archivedToo: boolean },
): Promise<ListedEndpoint[]> {
  const { rows } = await pool.query<Endpoint & ListedEndpoint['breaker'] & Pick<ListedEndpoint, 'held'>>(
    `select ${endpointColumns}, coalesce(b.state, 'closed') as state, coalesce(b.failures, 0) as failures,
       b.failing_since as "failingSince", b.probe_at as "probeAt", coalesce(h.held, '{}') as held
     from endpoints
     left join endpoint_breakers b on b.endpoint_id = endpoints.id
     left join (
       select endpoint_id, jsonb_object_agg(reason, count) as held
       from (select endpoint_id, reason, count(*) from held_deliveries group by endpoint_id, reason) as counted
       group by endpoint_id
     ) as h on h.endpoint_id = endpoints.id
     where ($1::uuid is null or project_id = $1) and ($2 or archived_at is null)
     order by project_id, created_at, id`,
    [projectId ?? null, archivedToo],
  );
  return rows.map(({ state, failures, failingSince, probeAt, ...rest }) => ({
    ...rest,
    breaker: { state, failures, failingSince, probeAt: state === 'closed' ? null : probeAt },
  }));
}

/** A page of a project's endpoints; archived ones only if they are asked for. */
export function readEndpointPage(
  client: Queryable,
  { projectId, archivedToo }: { projectId: string; archivedToo: boolean },
  page: PageRequest,
): Promise<Endpoint[]> {
  const list = {
    columns: endpointColumns,
    from: 'endpoints',
    where: ['project_id = $1', '($2 or archived_at is null)'],
    values: [projectId, archivedToo],
    at: 'created_at',
    id: 'id',
  };
  return readKeysetPage<Endpoint>(client, list, page);
}
