import { findDelivery, lockDelivery, readDelivery, type Delivery } from '@hqrelay/db/queries/deliveries';
import type pg from 'pg';
import { done, refused, type ActionResult } from '../action.ts';

/** Locks a delivery about which a person decides. */
export async function takeDelivery(
  client: pg.PoolClient,
  deliveryId: string,
): Promise<ActionResult<Delivery>> {
  await lockDelivery(client, deliveryId);
  const place = await findDelivery(client, deliveryId);
  const delivery = place && (await readDelivery(client, place));
  return delivery
    ? done(delivery)
    : refused('delivery.not_found', `there is no delivery ${deliveryId}; its rows can be a moment late`);
}

/** The fields of a delivery that a decision changes. */
export function decidedFields({ state, nextAttemptAt, heldReason }: Delivery) {
  return { state, nextAttemptAt, heldReason };
}
