import { timeOfId } from '@hqrelay/domain/ids';
import type { ReceivedMessage, Verdict } from '@hqrelay/queue/consumer';
import { decodeMessage, type Message } from '@hqrelay/queue/messages';
import type { Entrance } from '../endpoint/endpoint-gate.ts';
import type { LiveFirst } from '../intake/live-first.ts';
import { ackIfStored } from '../outgoing/ack-if-stored.ts';
import { park, send, workQueueOf } from '../outgoing/outgoing.ts';
import { deliver, type DeliverDeps } from './deliver.ts';
import { deliveryOf, firstDelivery, messageOf, type Delivery } from './delivery.ts';

export type DispatchDeps = DeliverDeps & {
  liveFirst: LiveFirst;
  onUnreadable: (reason: string) => void;
};

/** A message of a lane, and where its delivery enters. */
type Dispatched = ReceivedMessage & { entrance: Entrance; isLive: boolean };

/**
 * Handles a message of a work queue: a delivery, or a webhook that is fanned out to the endpoints it owes. They were fixed at
 * acceptance and are never looked up again, so a redelivered message fans out to the same set.
 */
export function dispatch(
  deps: DispatchDeps,
  { content, redelivered, entrance, isLive }: Dispatched,
): Promise<Verdict> {
  const decoded = decodeMessage(content);
  if (decoded.kind === 'unreadable') return parkUnreadable(deps, content, decoded.reason);
  const { message } = decoded;
  const { envelope } = message;
  if (envelope.delivery) {
    const delivery = deliveryOf(message, envelope.delivery, redelivered);
    return isLive ? deliver(deps, delivery, entrance) : deliverInTurn(deps, delivery, entrance);
  }

  if (!redelivered && !envelope.mayBeDuplicate) deps.liveFirst.live(timeOfId(envelope.id));
  if (envelope.endpointIds.length > 1) return fanOut(deps, message, redelivered);
  const only = envelope.endpointIds[0];
  if (only === undefined) return Promise.resolve('ack');
  return deliver(deps, deliveryOf(message, firstDelivery(envelope, only), redelivered), entrance);
}

/** Retries and replays wait for their turn behind new webhooks. */
async function deliverInTurn(deps: DispatchDeps, delivery: Delivery, entrance: Entrance): Promise<Verdict> {
  const isTurn = await deps.liveFirst.turn(delivery.fields.endpointId);
  return isTurn ? deliver(deps, delivery, entrance) : 'requeue';
}

function parkUnreadable(deps: DispatchDeps, content: Buffer, reason: string): Promise<Verdict> {
  deps.onUnreadable(reason);
  return ackIfStored(park(deps, 'message', reason, content));
}

/** Publishes one message for each endpoint. The webhook's own is acknowledged when all of them are stored. */
async function fanOut(deps: DispatchDeps, message: Message, redelivered: boolean): Promise<Verdict> {
  const { envelope } = message;
  const stored = await Promise.all(
    envelope.endpointIds.map((endpointId) => {
      const delivery = deliveryOf(message, firstDelivery(envelope, endpointId), redelivered);
      // Another worker may have published some of these messages before it crashed.
      const mark = delivery.mark && 'done_if_recorded';
      return send(deps, workQueueOf('live'), messageOf({ ...delivery, mark }));
    }),
  );
  return stored.every(Boolean) ? 'ack' : 'requeue';
}
