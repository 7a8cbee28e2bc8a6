import { lowestIdAt } from '@hqrelay/domain/ids';
import type { PageRequest } from '../keyset-page.ts';
import type { Parameters } from '../parameters.ts';
import type { WebhookFilter } from './webhook-filter.ts';

/** The row of a candidate, in the order of the candidates. OFFSET 0 keeps it a look-up for each. */
export const candidateRow = `(
      select * from webhook_logs where id = candidate.id and received_at = hqrelay_time_of(candidate.id)::timestamptz(3) offset 0
    )`;

/** More than a page or a count looks at. */
const candidatesMax = 10_001;
/** The clocks of receivers and workers differ. */
const clockSkewMs = 3_600_000;

/** `project` is a parameter; the period is of the webhooks, both ends included, in ms since epoch. */
type Range = { project: string; first: number; last: number; direction: PageRequest['direction'] };

/**
 * A subquery of the ids of the webhooks that can match a filter of rare deliveries, in the order of their times. Null where most
 * webhooks can: then the list itself is read.
 */
export function candidatesOf(
  filter: WebhookFilter,
  parameters: Parameters,
  { project, first, last, direction }: Range,
): string | null {
  if (filter.searchValue !== undefined) {
    return valueWebhooks(parameters.add(filter.searchValue, 'text'), parameters, {
      project,
      first,
      last,
      direction,
    });
  }
  const kind = kindOf(filter);
  if (!kind) return null;
  const inRange = `webhook_log_id >= ${parameters.add(lowestIdAt(first), 'uuid')}
        and webhook_log_id < ${parameters.add(lowestIdAt(last + 1), 'uuid')}`;
  const endpoint = filter.endpointId === undefined ? undefined : parameters.add(filter.endpointId, 'uuid');
  const ofEndpoint = endpoint ? `and endpoint_id = ${endpoint}` : '';
  // The order and the limit let the look-ups end with the page.
  const ordered = `order by webhook_log_id ${direction === 'older' ? 'desc' : 'asc'} limit ${candidatesMax}`;
  switch (kind) {
    case 'dead':
      return `(
      select distinct webhook_log_id as id from dead_letters
      where project_id = ${project} and kind = 'delivery' and ${inRange} ${ofEndpoint} ${ordered}
    )`;
    case 'cancelled':
      return `(
      select distinct webhook_log_id as id from delivery_decisions
      where project_id = ${project} and cancelled_at is not null and ${inRange} ${ofEndpoint} ${ordered}
    )`;
    case 'failed':
      return `(
      select distinct webhook_log_id as id from delivery_attempts
      where project_id = ${project} and status <> 'delivered' and ${inRange} ${ofEndpoint}
        and attempted_at >= ${parameters.add(new Date(first - clockSkewMs), 'timestamptz')} ${ordered}
    )`;
    case 'held':
      return heldWebhooks({ project, endpoint, inRange, way: direction === 'older' ? 'desc' : 'asc' });
  }
}

function valueWebhooks(
  value: string,
  parameters: Parameters,
  { project, first, last, direction }: Range,
): string {
  const time = (at: number) => parameters.add(new Date(at), 'timestamptz');
  return `(
      select distinct id from (
        select webhook_log_id as id from webhook_search_values
        where value = ${value} and project_id = ${project} and received_at >= ${time(first)} and received_at <= ${time(last)}
        order by received_at ${direction === 'older' ? 'desc' : 'asc'} limit ${candidatesMax}
      ) as v order by id ${direction === 'older' ? 'desc' : 'asc'}
    )`;
}

/** What a delivery that matches is for certain: dead, held, cancelled, or failed at least once. */
function kindOf({ state, statusClass, error, minAttempts = 1 }: WebhookFilter) {
  if (state === 'dead_lettered') return 'dead';
  if (state === 'held' || state === 'cancelled') return state;
  const hasFailed =
    error !== undefined || minAttempts > 1 || (statusClass !== undefined && statusClass !== '2xx');
  return hasFailed ? 'failed' : null;
}

/** Each endpoint's own, because the table has no project. The two halves have an index each. */
function heldWebhooks({
  project,
  endpoint,
  inRange,
  way,
}: {
  project: string;
  endpoint: string | undefined;
  inRange: string;
  way: 'asc' | 'desc';
}): string {
  const half = (reasons: string) => `(
        select webhook_log_id as id from held_deliveries
        where endpoint_id = e.id and reason in (${reasons}) and ${inRange} order by webhook_log_id ${way} limit ${candidatesMax}
      )`;
  return `(
      select distinct h.id from endpoints e cross join lateral (
      ${half("'paused', 'disabled', 'breaker'")} union all ${half("'delay', 'order'")}) as h
      where e.project_id = ${project} ${endpoint ? `and e.id = ${endpoint}` : ''} order by h.id ${way} limit ${candidatesMax}
    )`;
}
