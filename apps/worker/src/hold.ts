import { holdDelivery, type HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { encodeMessage } from '@hqrelay/queue/messages';
import { messageOf, type Delivery } from './delivery.ts';
import { sendLater, workQueueOf, type OutgoingDeps } from './outgoing.ts';

export type HoldDeps = OutgoingDeps & { now: () => number };

const holdTimeoutMs = 2_000;
const withoutPostgresMs = 60_000;

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
  const held = await deps.postgres.attempt(holdTimeoutMs, (pool) =>
    holdDelivery(
      pool,
      {
        deliveryId: fields.deliveryId,
        webhookLogId: envelope.id,
        endpointId: fields.endpointId,
        orderingKey: null,
        reason,
        dueAt,
        queue,
        message: encodeMessage(message),
      },
      deps.now(),
    ),
  );
  return held !== undefined || sendLater(deps, queue, message, withoutPostgresMs);
}
