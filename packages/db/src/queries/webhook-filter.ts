import { timeOfId } from '@hqrelay/domain/ids';
import type { PageRequest } from '../keyset-page.ts';
import type { Parameters } from '../parameters.ts';
import { candidateRow, candidatesOf } from './webhook-candidates.ts';
import type { DeliveryState, WebhookStatus } from './webhooks.ts';

export type StatusClass = '2xx' | '3xx' | '4xx' | '5xx' | 'none';

/** Which webhooks of a project; what is undefined is not asked. The last five are about one and the same delivery. */
export type WebhookFilter = {
  projectId: string;
  /** ms since epoch: received at `since` or later, and before `until`. */
  since: number;
  until: number;
  status?: WebhookStatus | undefined;
  /** The code of a reason, without the words after it. */
  reason?: string | undefined;
  eventType?: string | undefined;
  webhookId?: string | undefined;
  correlationId?: string | undefined;
  /** A value of a search key; where no webhook of the period has it, text in the payload, as UTF-8 bytes. */
  q?: string | undefined;
  /** A value that `webhook_search_values` has. */
  searchValue?: string | undefined;
  endpointId?: string | undefined;
  state?: DeliveryState | undefined;
  /** Of the last attempt. */
  statusClass?: StatusClass | undefined;
  /** Text in the error of the last attempt, in any case. */
  error?: string | undefined;
  minAttempts?: number | undefined;
};

/** A correlation id of the relay's own is made within a request, so that its time bounds the webhook's. */
export const requestMaxMs = 15_000;

/** As in the partial index of the correlation ids that clients chose. */
export const isClientsCorrelation = `(length(correlation_id) <> 36 or substr(correlation_id, 15, 1) <> '7')`;

/** A FROM clause with conditions that an index serves, and the columns in whose order it reads. `w` is the row of `webhook_logs`. */
export type Scan = { from: string; where: string[]; order: readonly string[] };

/** Reads the webhooks of the filter's period from `position` on. */
export function scanOf(
  filter: WebhookFilter,
  parameters: Parameters,
  { position, direction }: Pick<PageRequest, 'position' | 'direction'>,
): Scan {
  const { since, until } = narrowed(filter);
  const project = parameters.add(filter.projectId, 'uuid');
  const where = [
    `w.project_id = ${project}`,
    `w.received_at >= ${parameters.add(new Date(since), 'timestamptz')}`,
    `w.received_at < ${parameters.add(new Date(until), 'timestamptz')}`,
  ];
  if (position) {
    const sign = direction === 'older' ? '<' : '>';
    const at = parameters.add(new Date(position.at), 'timestamptz');
    where.push(`w.received_at ${sign}= ${at}`);
    where.push(`(w.received_at, w.id) ${sign} (${at}, ${parameters.add(position.id, 'uuid')})`);
  }
  where.push(...indexedConditions(filter, parameters));
  const [first, last] =
    direction === 'older' ? [since, position?.at ?? until] : [position?.at ?? since, until];
  const candidates = candidatesOf(filter, parameters, { project, first, last, direction });
  if (!candidates) return { from: 'webhook_logs w', where, order: ['w.received_at', 'w.id'] };
  // Makes the order of the look-ups that of the rows.
  where.push('w.id = candidate.id');
  return {
    from: `${candidates} as candidate cross join lateral ${candidateRow} as w`,
    where,
    order: ['w.id'],
  };
}

/** Conditions of the filter that an index serves. */
function indexedConditions(filter: WebhookFilter, parameters: Parameters): string[] {
  const where: string[] = [];
  if (filter.correlationId !== undefined && timeIn(filter.correlationId) === undefined) {
    where.push(`w.correlation_id = ${parameters.add(filter.correlationId, 'text')}`, isClientsCorrelation);
  }
  if (filter.webhookId !== undefined)
    where.push(`w.webhook_id = ${parameters.add(filter.webhookId, 'text')}`);
  if (filter.status !== undefined)
    where.push(`w.status = ${parameters.add(filter.status, 'webhook_status')}`);
  // The index of the other statuses is partial; a queued webhook has no reason.
  if (filter.reason !== undefined || (filter.status !== undefined && filter.status !== 'queued')) {
    where.push(`w.status <> 'queued'`);
  }
  return where;
}

/** Rows that a page looks at: a check of deliveries takes 0.1 ms, one of a payload less, one of the row itself 0.003 ms. */
const deliveriesChecked = 300;
const payloadsChecked = 1_000;
const rowsChecked = 3_000;

/**
 * Conditions that are checked row by row, and how many rows a page may look at for them. OFFSET 0 keeps a check one of each row: on
 * small tables the planner otherwise joins the deliveries of every webhook first.
 */
export function checksOf(
  filter: WebhookFilter,
  parameters: Parameters,
): { where: string[]; rowsMax: number } {
  const { reason, eventType, correlationId, q } = filter;
  const where: string[] = [];
  if (eventType !== undefined) where.push(`w.event_type = ${parameters.add(eventType, 'text')}`);
  if (reason !== undefined) where.push(`split_part(w.reason, ' ', 1) = ${parameters.add(reason, 'text')}`);
  if (correlationId !== undefined && timeIn(correlationId) !== undefined)
    where.push(`w.correlation_id = ${parameters.add(correlationId, 'text')}`);
  if (filter.endpointId !== undefined) {
    where.push(`w.endpoint_ids @> array[${parameters.add(filter.endpointId, 'uuid')}]`);
  }
  const delivery = deliveryChecks(filter, parameters);
  if (delivery.length > 0) {
    where.push(
      `exists (select from delivery_status s
       where s.webhook_log_id = w.id and s.received_at = w.received_at and ${delivery.join(' and ')} offset 0)`,
    );
  }
  if (q !== undefined) {
    where.push(
      `exists (select from webhook_payloads p where p.id = w.id and p.received_at = w.received_at
       and position(${parameters.add(Buffer.from(q), 'bytea')} in p.payload) > 0 offset 0)`,
    );
  }
  const rowsMax = delivery.length > 0 ? deliveriesChecked : q === undefined ? rowsChecked : payloadsChecked;
  return { where, rowsMax };
}

/** Conditions about one delivery of the filter's; `s` is its row of `delivery_status`. */
export function deliveryChecks(
  { state, statusClass, error, minAttempts, endpointId }: WebhookFilter,
  parameters: Parameters,
): string[] {
  const where: string[] = [];
  if (state !== undefined) where.push(`s.state = ${parameters.add(state, 'text')}`);
  if (statusClass === 'none') where.push('s.attempts > 0', 's.last_status_code is null');
  else if (statusClass !== undefined) {
    where.push(`s.last_status_code / 100 = ${parameters.add(Number(statusClass[0]), 'integer')}`);
  }
  if (error !== undefined) {
    where.push(`position(lower(${parameters.add(error, 'text')}) in lower(s.last_error)) > 0`);
  }
  if (minAttempts !== undefined) where.push(`s.attempts >= ${parameters.add(minAttempts, 'integer')}`);
  if (where.length > 0 && endpointId !== undefined) {
    where.push(`s.endpoint_id = ${parameters.add(endpointId, 'uuid')}`);
  }
  return where;
}

/** The period, as narrow as a correlation id of the relay's own allows. */
function narrowed({ since, until, correlationId }: WebhookFilter): { since: number; until: number } {
  const at = timeIn(correlationId ?? '');
  if (at === undefined) return { since, until };
  return { since: Math.max(since, at - requestMaxMs), until: Math.min(until, at + requestMaxMs) };
}

function timeIn(text: string): number | undefined {
  try {
    return timeOfId(text);
  } catch {
    return undefined;
  }
}
