import type { Postgres } from '@hqrelay/db/postgres';
import { holdDeliveries, type HeldDelivery, type HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { markWhenPublishedAgain } from '@hqrelay/domain/delivery/duplicates';
import { timeOfId } from '@hqrelay/domain/ids';
import { Batcher } from '@hqrelay/flow/batcher';
import {
  encodeMessage,
  type DeliveryFields,
  type DeliveryMessage,
  type Envelope,
} from '@hqrelay/queue/messages';
import { sendLater, workQueueOf, type OutgoingDeps } from './outgoing.ts';

/** True when the delivery is committed. */
export type StoreHeld = (held: HeldDelivery) => Promise<boolean>;
export type HoldDeps = OutgoingDeps & { storeHeld: StoreHeld; now: () => number };

const holdTimeoutMs = 2_000;
/**
 * A delivery that cannot be held is delayed by as long again as it is overdue, between these: a short outage delays it little,
 * and in a long one it is published every five minutes.
 */
const withoutPostgresMinMs = 2_000;
const withoutPostgresMaxMs = 300_000;

/** Commits held deliveries in batches: a paused endpoint may have thousands at once. */
export function createStoreHeld(postgres: Postgres, now: () => number): StoreHeld {
  const batcher = new Batcher<HeldDelivery, boolean>({
    itemsMax: 200,
    bytesMax: 4 << 20,
    batchesAtOnce: 2,
    bytesWaitingMax: 64 << 20,
    bytesOf: ({ message }) => message.length,
    run: async (held) => {
      const stored = await postgres.tryWithin(holdTimeoutMs, (pool) => holdDeliveries(pool, held, now()));
      return held.map(() => stored !== undefined);
    },
  });
  return async (held) => (await batcher.add(held)) ?? false;
}

/** Commits the delivery to `held_deliveries`. While Postgres is unavailable it goes through a delay queue and comes back. */
export async function hold(
  deps: HoldDeps,
  { envelope, body }: DeliveryMessage,
  reason: HoldReason,
  dueAt: number,
): Promise<boolean> {
  const { delivery } = envelope;
  const queue = workQueueOf(delivery.lane);
  // A release publishes the message before it deletes the row, and may publish it twice.
  const mark = markWhenPublishedAgain(envelope.mayBeDuplicate);
  const message = { envelope: { ...envelope, mayBeDuplicate: mark }, body };
  const isStored = await deps.storeHeld({
    deliveryId: delivery.deliveryId,
    webhookLogId: envelope.id,
    endpointId: delivery.endpointId,
    attemptNum: delivery.attemptNum,
    orderingKey: envelope.orderingKeys?.[delivery.endpointId] ?? null,
    reason,
    dueAt,
    queue,
    message: encodeMessage(message),
    replacesSameAttempt: mark === 'resume_if_recorded',
  });
  if (isStored) return true;
  const mayBeDueSoon = reason === 'breaker' || reason === 'paused' || reason === 'order';
  const overdue = mayBeDueSoon ? overdueMs(envelope, delivery, deps.now()) : withoutPostgresMaxMs;
  const delayMs = Math.min(Math.max(overdue, withoutPostgresMinMs), withoutPostgresMaxMs);
  return sendLater(deps, queue, message, delayMs);
}

/** Since when the attempt could have been made, ms. */
function overdueMs({ id }: Envelope, { notBefore }: DeliveryFields, now: number): number {
  return now - Math.max(notBefore, timeOfId(id));
}
