import { deliveryId, timeOfId } from '@hqrelay/domain/ids';
import type { DeliveryFields, Envelope, Message } from '@hqrelay/queue/messages';

/** One webhook on its way to one endpoint, as a message carries it. */
export type Delivery = {
  envelope: Envelope;
  fields: DeliveryFields;
  body: Buffer;
  /** ms since epoch. */
  receivedAt: number;
  /** Whoever had this message before may have died with it: what is recorded of its attempt may have led to nothing. */
  redelivered: boolean;
};

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
  return {
    envelope,
    fields,
    body,
    receivedAt: timeOfId(envelope.id),
    redelivered: redelivered || envelope.redelivered === true,
  };
}

/** Whether Postgres may know of its attempt already. */
export function mayBeRecorded({ redelivered, envelope }: Delivery): boolean {
  return redelivered || envelope.copy === true;
}

/** The message of a delivery. Its marks are not handed on: they spoke of the message that it came with. */
export function messageOf(
  delivery: Delivery,
  marks: { copy?: boolean; redelivered?: boolean } = {},
): Message {
  const { envelope, fields, body } = delivery;
  const { copy: _copy, redelivered: _redelivered, putBack, ...unmarked } = envelope;
  return {
    envelope: {
      ...unmarked,
      delivery: fields,
      ...(marks.copy && { copy: true }),
      ...(marks.redelivered && { redelivered: true }),
      ...(putBack && isSameMessage(delivery) && { putBack }),
    },
    body,
  };
}

/** No later attempt, and none of several that a webhook was fanned out to. */
function isSameMessage({ envelope, fields }: Delivery): boolean {
  const { delivery, endpointIds } = envelope;
  return delivery
    ? delivery.attemptNum === fields.attemptNum
    : endpointIds.length === 1 && fields.attemptNum === 1;
}
