import type { Breaker } from '@hqrelay/domain/delivery/breaker';
import type { Queryable } from '../queryable.ts';
import type { HoldReason } from './held-deliveries.ts';

/** The breaker of an endpoint as its workers share it, and its held deliveries. */
export type EndpointHealth = {
  breaker: {
    state: Breaker['state'];
    /** Consecutive ones. */
    failures: number;
    failingSince: Date | null;
    openedAt: Date | null;
    /** When one delivery may try the endpoint again; null while the breaker is closed. */
    probeAt: Date | null;
  };
  held: Partial<Record<HoldReason, number>>;
  /** Whether more deliveries are held than were counted. */
  heldCapped: boolean;
};

type Row = {
  id: string;
  state: Breaker['state'];
  failures: number;
  failingSince: Date | null;
  openedAt: Date | null;
  probeAt: Date | null;
  held: Partial<Record<HoldReason, number>>;
};

/** At most so many of each of the two groups of reasons, which have an index each. */
const countedMax = 10_000;

/** The health of each of these endpoints, in one query. */
export async function readEndpointHealth(
  client: Queryable,
  endpointIds: readonly string[],
): Promise<Map<string, EndpointHealth>> {
  const { rows } = await client.query<Row>(
    `select e.id, coalesce(b.state, 'closed') as state, coalesce(b.failures, 0) as failures,
       b.failing_since as "failingSince", b.opened_at as "openedAt", b.probe_at as "probeAt", coalesce(h.held, '{}') as held
     from unnest($1::uuid[]) as e(id)
     left join endpoint_breakers b on b.endpoint_id = e.id
     left join lateral (
       select jsonb_object_agg(reason, count) as held from (
         select reason, count(*)::int from (
           (select reason from held_deliveries
            where endpoint_id = e.id and reason in ('paused', 'disabled', 'breaker') limit $2)
           union all
           (select reason from held_deliveries where endpoint_id = e.id and reason in ('delay', 'order') limit $2)
         ) as found group by reason
       ) as counted
     ) as h on true`,
    [endpointIds, countedMax],
  );
  return new Map(rows.map((row) => [row.id, healthOf(row)]));
}

function healthOf({ state, failures, failingSince, openedAt, probeAt, held }: Row): EndpointHealth {
  const isClosed = state === 'closed';
  return {
    breaker: {
      state,
      failures,
      failingSince,
      openedAt: isClosed ? null : openedAt,
      probeAt: isClosed ? null : probeAt,
    },
    held,
    heldCapped: Object.values(held).reduce((sum, count) => sum + count, 0) >= countedMax,
  };
}
