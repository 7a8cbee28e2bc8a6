import type { Postgres } from '@hqrelay/db/postgres';
import { holdDeliveries, type HeldDelivery, type HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { markWhenPublishedAgain } from '@hqrelay/domain/delivery/duplicates';
import { Batcher } from '@hqrelay/flow/batcher';
import { encodeMessage, type DeliveryMessage } from '@hqrelay/queue/messages';
import { sendLater, workQueueOf, type OutgoingDeps } from './outgoing.ts';

/** True when the delivery is committed. */
export type StoreHeld = (held: HeldDelivery) => Promise<boolean>;
export type HoldDeps = OutgoingDeps & { storeHeld: StoreHeld };

const holdTimeoutMs = 2_000;
/** A delivery that cannot be held is published every five minutes instead. */
const withoutPostgresMs = 300_000;

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

/** Commits the delivery to `held_deliveries`. While Postgres is unavailable it goes to the delay queue of five minutes. */
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
    orderingKey: null,
    reason,
    dueAt,
    queue,
    message: encodeMessage(message),
    replacesSameAttempt: mark === 'resume_if_recorded',
  });
  return isStored || sendLater(deps, queue, message, withoutPostgresMs);
}
