import { inTransaction } from '@hqrelay/db/in-transaction';
import { readDelivery, type Delivery } from '@hqrelay/db/queries/deliveries';
import * as queries from '@hqrelay/db/queries/delivery-decisions';
import { endCancelledTurn } from '@hqrelay/db/queries/ended-turns';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Refusal } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { decidedFields, takeDelivery } from './take-delivery.ts';

type Options = { deliveryId: string; now: number };

/**
 * Cancels a delivery that waits, is held or is dead: no further attempt is made, except one that is in flight. Cancelling it
 * again changes nothing. The next delivery of its key follows.
 */
export async function cancelDelivery(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  { deliveryId, now }: Options,
): Promise<ActionResult<Delivery>> {
  const result = await inTransaction(pool, (client) => cancel(client, actor, { deliveryId, now }));
  // After the commit, so that a worker that holds the next delivery meanwhile finds it, or this finds the delivery.
  if (result.kind === 'done') await endCancelledTurn(pool, { deliveryId, now });
  return result;
}

async function cancel(
  client: pg.PoolClient,
  actor: ActionDeps['actor'],
  { deliveryId, now }: Options,
): Promise<ActionResult<Delivery>> {
  const taken = await takeDelivery(client, deliveryId);
  if (taken.kind === 'refused') return taken;
  const before = taken.value;
  const refusal = whyNotCancelled(before);
  if (refusal) return refusal;
  await queries.cancelDelivery(client, before, { now, isDead: before.state === 'dead_lettered' });
  const after = (await readDelivery(client, before)) as Delivery;
  if (before.state !== 'cancelled') {
    const { webhookLogId, endpointId, attempts } = before;
    await recordChange(client, actor, {
      action: 'delivery.cancel',
      projectId: before.projectId,
      target: deliveryId,
      before: decidedFields(before),
      after: decidedFields(after),
      more: { webhookLogId, endpointId, attempts },
    });
  }
  return done(after);
}

/** A worker reads decisions before every attempt but the first of a webhook, which must stay as cheap as it is. */
function whyNotCancelled({ deliveryId, state, attempts, replayId }: Delivery): Refusal | undefined {
  if (state === 'delivered') return refused('delivery.ended', `the delivery ${deliveryId} is delivered`);
  if (state !== 'waiting' || attempts > 0 || replayId !== null) return undefined;
  return refused(
    'delivery.first_attempt',
    `the first attempt of the delivery ${deliveryId} is in a queue or being made; cancel it when the attempt has ended, or pause ` +
      'its endpoint and cancel it when it is held',
  );
}
