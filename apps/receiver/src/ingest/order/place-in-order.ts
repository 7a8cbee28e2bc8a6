import type { AuditRecorder, RecordOutcome } from '@hqrelay/audit/audit-recorder';
import type { Cache } from '@hqrelay/cache/client';
import { markBehind, takePlace } from '@hqrelay/cache/ordering/order-marks';
import type { WebhookOrdering, WebhookRow } from '@hqrelay/db/queries/append-audit';
import { deliveryId, timeOfId } from '@hqrelay/domain/ids';
import type { OrderingKeys } from '@hqrelay/domain/inbound/ordering-key';

export type OrderDeps = {
  cache: Cache;
  recorder: AuditRecorder;
  /** Called with each ordered webhook that was accepted without Postgres and without Redis: its order is best effort. */
  onOrderUncertain: () => void;
};

/**
 * The place of an ordered webhook's deliveries. Where Postgres may lack webhooks that were accepted before it, it waits for them.
 * Without Redis its place is its time of receipt.
 */
export async function placeInOrder(
  { cache }: OrderDeps,
  projectId: string,
  id: string,
  orderingKeys: OrderingKeys,
): Promise<WebhookOrdering> {
  const place = await takePlace(cache, projectId);
  return {
    deliveries: Object.entries(orderingKeys).map(([endpointId, key]) => ({
      deliveryId: deliveryId(id, endpointId),
      endpointId,
      key,
    })),
    acceptedAtUs: place?.acceptedAtUs ?? timeOfId(id) * 1_000,
    isEarly: place?.isBehind ?? false,
  };
}

/** Records a webhook. Where its rows are spilled, later ordered webhooks of its project wait for them, at every receiver. */
export function recordInOrder(deps: OrderDeps, row: WebhookRow): Promise<RecordOutcome> {
  const recorded = deps.recorder.record(row);
  return row.ordering ? recorded.then((outcome) => markIfSpilled(deps, row, outcome)) : recorded;
}

async function markIfSpilled(
  deps: OrderDeps,
  row: WebhookRow,
  outcome: RecordOutcome,
): Promise<RecordOutcome> {
  if (outcome === 'spilled' && !(await markBehind(deps.cache, row.log.projectId))) deps.onOrderUncertain();
  return outcome;
}
