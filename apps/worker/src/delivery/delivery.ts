import { markOnReceipt, type DuplicateMark } from '@hqrelay/domain/delivery/duplicates';
import { deliveryId, timeOfId } from '@hqrelay/domain/ids';
import type { DeliveryFields, DeliveryMessage, Envelope, Message } from '@hqrelay/queue/messages';

/** One webhook on its way to one endpoint, as a message carries it. */
export type Delivery = {
  envelope: Envelope;
  fields: DeliveryFields;
  body: Buffer;
  /** ms since epoch. */
  receivedAt: number;
  /** Set when another message of the same attempt may exist. */
  mark: DuplicateMark | undefined;
};

/** The value of the endpoint's ordering key; undefined for an unordered delivery, and for a replay, which takes no turn. */
export function orderingKeyOf({ envelope, fields }: Delivery): string | undefined {
  return fields.lane === 'replay' ? undefined : envelope.orderingKeys?.[fields.endpointId];
}

/** The first attempt of a webhook's delivery to one of the endpoints it owes. */
export function firstDelivery(envelope: Envelope, endpointId: string): DeliveryFields {
  return {
    deliveryId: deliveryId(envelope.id, endpointId),
    endpointId,
    attemptNum: 1,
    lane: 'live',
    notBefore: 0,
  };
}

export function deliveryOf(message: Message, fields: DeliveryFields, redelivered: boolean): Delivery {
  const { envelope, body } = message;
  const mark = markOnReceipt(envelope.mayBeDuplicate, { redelivered });
  return { envelope, fields, body, receivedAt: timeOfId(envelope.id), mark };
}

/** The message of a delivery with this mark. The mark of the received message holds for that message alone. */
export function messageOf(delivery: Delivery, mark = delivery.mark): DeliveryMessage {
  const { envelope, fields, body } = delivery;
  const { mayBeDuplicate: _received, putBack, ...unmarked } = envelope;
  return {
    envelope: {
      ...unmarked,
      delivery: fields,
      ...(mark && { mayBeDuplicate: mark }),
      ...(putBack && isSameMessage(delivery) && { putBack }),
    },
    body,
  };
}

/** False for a later attempt, and for the messages that a webhook is fanned out to. */
function isSameMessage({ envelope, fields }: Delivery): boolean {
  const { delivery, endpointIds } = envelope;
  return delivery
    ? delivery.attemptNum === fields.attemptNum
    : endpointIds.length === 1 && fields.attemptNum === 1;
}
