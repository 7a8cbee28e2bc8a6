import { inTransaction } from '@hqrelay/db/in-transaction';
import { readDelivery, type Delivery } from '@hqrelay/db/queries/deliveries';
import * as queries from '@hqrelay/db/queries/delivery-decisions';
import { endCancelledTurn } from '@hqrelay/db/queries/ended-turns';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Actor } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { decidedFields, takeDelivery } from './take-delivery.ts';

type Asked = { deliveryId: string; now: number };

/**
 * Cancels a delivery that waits, is held or is dead: no further attempt is made, except one that is in flight. Cancelling it
 * again changes nothing. The next delivery of its key follows. A first attempt that waits in a queue is announced as a change of
 * the project: workers learn within a second that they have to ask Postgres before its first attempts.
 */
export async function cancelDelivery(
  { pool, actor, announceChange }: ActionDeps,
  { deliveryId, now }: Asked,
): Promise<ActionResult<Delivery>> {
  const result = await inTransaction(pool, (client) => cancel(client, actor, { deliveryId, now }));
  if (result.kind === 'refused') return result;
  const { delivery, isFirstAttempt } = result.value;
  // After the commit, so that a worker that holds the next delivery meanwhile finds it, or this finds the delivery.
  await endCancelledTurn(pool, { deliveryId, now });
  if (isFirstAttempt) await announceChange(delivery.projectId, { isNew: false });
  return done(delivery);
}

async function cancel(
  client: pg.PoolClient,
  actor: Actor,
  { deliveryId, now }: Asked,
): Promise<ActionResult<{ delivery: Delivery; isFirstAttempt: boolean }>> {
  const taken = await takeDelivery(client, deliveryId);
  if (taken.kind === 'refused') return taken;
  const before = taken.value;
  if (before.state === 'delivered') {
    return refused('delivery.ended', `the delivery ${deliveryId} is delivered`);
  }
  const isFirstAttempt = before.state === 'waiting' && before.attempts === 0 && before.replayId === null;
  await queries.cancelDelivery(client, before, {
    now,
    isDead: before.state === 'dead_lettered',
    isFirstAttempt,
  });
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
  return done({ delivery: after, isFirstAttempt });
}
