import { timeOfId } from '@hqrelay/domain/ids';
import type { ReceivedMessage, Verdict } from '@hqrelay/queue/consumer';
import { decodeMessage, type DeliveryFields, type Message } from '@hqrelay/queue/messages';
import { deliver, type DeliverDeps } from './deliver.ts';
import { deliveryOf, firstDelivery, messageOf } from './delivery.ts';
import type { Entrance } from '../endpoint/endpoint-gate.ts';
import type { LiveFirst } from '../intake/live-first.ts';
import type { OneAtATime } from './one-at-a-time.ts';
import { park, send, workQueueOf } from '../outgoing/outgoing.ts';

export type DispatchDeps = DeliverDeps & {
  /** By delivery: two messages of one never post at once here, and the second asks what the first has recorded. */
  oneAtATime: OneAtATime;
  liveFirst: LiveFirst;
  onUnreadable: (reason: string) => void;
};

/**
 * A message of a work queue: a delivery, or a webhook that is fanned out to the endpoints it owes. These were fixed at
 * acceptance and are never looked up again, so a redelivered message fans out to the same set.
 */
export async function dispatch(
  deps: DispatchDeps,
  { content, redelivered, entrance }: ReceivedMessage & { entrance: Entrance },
): Promise<Verdict> {
  const decoded = decodeMessage(content);
  if (decoded.kind === 'unreadable') {
    deps.onUnreadable(decoded.reason);
    return (await park(deps, 'message', decoded.reason, content)) ? 'ack' : 'requeue';
  }
  const { message } = decoded;
  const { envelope } = message;
  if (envelope.delivery) return deliverInTurn(deps, message, envelope.delivery, { redelivered, entrance });

  if (!redelivered && !envelope.copy) deps.liveFirst.live(timeOfId(envelope.id));
  const [only, ...others] = envelope.endpointIds;
  if (only === undefined) return 'ack';
  if (others.length === 0)
    return deliverInTurn(deps, message, firstDelivery(envelope, only), { redelivered, entrance });
  return fanOut(deps, message, redelivered);
}

function deliverInTurn(
  deps: DispatchDeps,
  message: Message,
  fields: DeliveryFields,
  { redelivered, entrance }: { redelivered: boolean; entrance: Entrance },
): Promise<Verdict> {
  return deps.oneAtATime.run(fields.deliveryId, (follows) => {
    const envelope = follows ? { ...message.envelope, copy: true } : message.envelope;
    return deliver(deps, deliveryOf({ ...message, envelope }, fields, redelivered), entrance);
  });
}

/** One message for each endpoint, all confirmed before the webhook's own is let go. */
async function fanOut(deps: DispatchDeps, message: Message, redelivered: boolean): Promise<Verdict> {
  const { envelope } = message;
  // After a crash half-way some of these are out already.
  const copy = redelivered || envelope.redelivered === true || envelope.copy === true;
  const sent = await Promise.all(
    envelope.endpointIds.map((endpointId) => {
      const delivery = deliveryOf(message, firstDelivery(envelope, endpointId), redelivered);
      return send(deps, workQueueOf('live'), messageOf(delivery, { copy }));
    }),
  );
  return sent.every(Boolean) ? 'ack' : 'requeue';
}
