import { inTransaction } from '@hqrelay/db/in-transaction';
import { readDelivery, type Delivery } from '@hqrelay/db/queries/deliveries';
import { readDeliveryHistories } from '@hqrelay/db/queries/delivery-attempts';
import {
  insertHeldMessage,
  lockHeldMessage,
  releaseHeldMessage,
  type HeldMessage,
} from '@hqrelay/db/queries/delivery-decisions';
import { readEndpoint } from '@hqrelay/db/queries/endpoints';
import { readRecordedWebhooks } from '@hqrelay/db/queries/replays';
import type { DeliveryHistory } from '@hqrelay/domain/delivery/duplicates';
import { timeOfId } from '@hqrelay/domain/ids';
import { decodeMessage, encodeMessage } from '@hqrelay/queue/messages';
import type pg from 'pg';
import { done, refused, type ActionDeps, type ActionResult, type Refusal } from '../action.ts';
import { recordChange } from '../record-change.ts';
import { encodeAttempt } from './encode-attempt.ts';
import { decidedFields, takeDelivery } from './take-delivery.ts';

/** An attempt that is due this soon is left alone. */
const soonMs = 1_000;
/** An attempt that became due this recently may be in flight. */
const inFlightMs = 120_000;

/**
 * Makes the next attempt of a waiting or held delivery due at once. The message in the delay queue cannot be removed; the worker
 * that receives it acknowledges it without a request.
 */
export async function retryDeliveryNow(
  { pool, actor }: Pick<ActionDeps, 'pool' | 'actor'>,
  { deliveryId, now }: { deliveryId: string; now: number },
): Promise<ActionResult<Delivery>> {
  return inTransaction(pool, async (client) => {
    const taken = await takeDelivery(client, deliveryId);
    if (taken.kind === 'refused') return taken;
    const before = taken.value;
    const refusal = whyEnded(before) ?? (await whyNotSent(client, before));
    if (refusal) return refusal;
    const retried = await publishNow(client, before, now);
    if (retried.kind === 'refused') return retried;
    if (retried.value === null) return done(before);
    const after = (await readDelivery(client, before)) as Delivery;
    const { webhookLogId, endpointId } = before;
    await recordChange(client, actor, {
      action: 'delivery.retry_now',
      projectId: before.projectId,
      target: deliveryId,
      before: decidedFields(before),
      after: decidedFields(after),
      more: { webhookLogId, endpointId, attemptNum: retried.value },
    });
    return done(after);
  });
}

function whyEnded({ deliveryId, state, heldReason }: Delivery): Refusal | undefined {
  if (state === 'held' && heldReason === 'order') {
    return refused(
      'delivery.behind_another',
      `the delivery ${deliveryId} is held behind an earlier one of its key`,
    );
  }
  if (state === 'waiting' || state === 'held') return undefined;
  const how = state === 'dead_lettered' ? 'is a dead letter' : `is ${state}`;
  return refused('delivery.ended', `the delivery ${deliveryId} ${how}; replay its webhook to send it again`);
}

async function whyNotSent(client: pg.PoolClient, { endpointId }: Delivery): Promise<Refusal | undefined> {
  const endpoint = await readEndpoint(client, endpointId);
  if (endpoint?.archivedAt) {
    return refused('endpoint.archived', `the endpoint ${endpointId} is archived: nothing is sent to it`);
  }
  if (endpoint?.enabled && !endpoint.paused) return undefined;
  const [is, verb] = endpoint?.paused ? ['paused', 'resume'] : ['disabled', 'enable'];
  return refused(
    'delivery.endpoint_stopped',
    `the endpoint ${endpointId} is ${is}: ${verb} it, and its deliveries are sent`,
  );
}

/** The number of the attempt that is due now; null when it is due or in flight anyway. */
async function publishNow(
  client: pg.PoolClient,
  delivery: Delivery,
  now: number,
): Promise<ActionResult<number | null>> {
  const { deliveryId, webhookLogId, endpointId, replayId } = delivery;
  const key = { deliveryId, webhookLogId, receivedAt: timeOfId(webhookLogId) };
  const [history] = await readDeliveryHistories(client, [key]);
  const attemptNum = history!.lastAttemptNum + 1;
  const held = await lockHeldMessage(client, deliveryId);
  // That of an earlier attempt is a duplicate.
  if (held && held.attemptNum >= attemptNum) return releaseNow(client, delivery, held, now);
  const overdueMs = now - dueAtOf(history!, now);
  if (overdueMs >= -soonMs && overdueMs <= inFlightMs) return done(null);

  const recorded = (await readRecordedWebhooks(client, [webhookLogId])).get(webhookLogId);
  if (!recorded) {
    return refused(
      'webhook.not_replayable',
      `the payload of the webhook ${webhookLogId} was dropped or erased`,
    );
  }
  const lane = replayId === null ? 'retry' : 'replay';
  const fields = {
    deliveryId,
    endpointId,
    attemptNum,
    lane,
    notBefore: now,
    ...(replayId && { replayId }),
  } as const;
  const message = encodeAttempt(recorded, fields);
  const queue = replayId === null ? 'hqrelay.retries' : 'hqrelay.replays';
  // An overdue message is in a work queue, in front of this one, unless it was lost.
  const replacesOthers = overdueMs < 0;
  const retry = { attemptNum, queue, message, now, replacesOthers } as const;
  const isInserted = await insertHeldMessage(client, delivery, retry);
  return isInserted ? done(attemptNum) : publishNow(client, delivery, now);
}

/** When the next attempt is due, ms. A delivery without a failed attempt has its message in a work queue. */
function dueAtOf({ lastAttemptNum, nextAttemptAt, retryNow }: DeliveryHistory, now: number): number {
  if (retryNow?.attemptNum === lastAttemptNum + 1) return retryNow.notBefore;
  return nextAttemptAt ?? now;
}

/** Its mark stays: a message with the mark to resume must resume when it is released. */
async function releaseNow(
  client: pg.PoolClient,
  delivery: Delivery,
  { attemptNum, message }: HeldMessage,
  now: number,
): Promise<ActionResult<number>> {
  const decoded = decodeMessage(message);
  const fields = decoded.kind === 'message' ? decoded.message.envelope.delivery : undefined;
  if (decoded.kind !== 'message' || !fields)
    throw new Error(`the held message of ${delivery.deliveryId} is unreadable`);
  const { envelope, body } = decoded.message;
  const due = encodeMessage({ envelope: { ...envelope, delivery: { ...fields, notBefore: now } }, body });
  await releaseHeldMessage(client, delivery, { attemptNum, message: due, now });
  return done(attemptNum);
}
