import type { Postgres } from '@hqrelay/db/postgres';
import { holdDeliveries, type HeldDelivery, type HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { encodeMessage } from '@hqrelay/queue/messages';
import { Batcher } from '@hqrelay/flow/batcher';
import { messageOf, type Delivery } from '../delivery/delivery.ts';
import { sendLater, workQueueOf, type OutgoingDeps } from './outgoing.ts';

/** Whether Postgres took it. */
export type StoreHeld = (held: HeldDelivery) => Promise<boolean>;
export type HoldDeps = OutgoingDeps & { storeHeld: StoreHeld };

const holdTimeoutMs = 2_000;
/** A message that goes round waits so long each time, as every round is a publish. */
const withoutPostgresMs = 300_000;

/** Deliveries that come to be held at the same time are committed together: a paused endpoint's come by the thousand. */
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

/** Commits the delivery to `held_deliveries`; while Postgres is away it goes round through a delay queue instead. */
export async function hold(
  deps: HoldDeps,
  delivery: Delivery,
  reason: HoldReason,
  dueAt: number,
): Promise<boolean> {
  const { fields, envelope } = delivery;
  const queue = workQueueOf(fields.lane);
  // Whoever releases it publishes before it forgets it: what comes back may come twice.
  const message = messageOf(delivery, { copy: true, redelivered: delivery.redelivered });
  const isStored = await deps.storeHeld({
    deliveryId: fields.deliveryId,
    webhookLogId: envelope.id,
    endpointId: fields.endpointId,
    attemptNum: delivery.fields.attemptNum,
    orderingKey: null,
    reason,
    dueAt,
    queue,
    message: encodeMessage(message),
  });
  return isStored || sendLater(deps, queue, message, withoutPostgresMs);
}
