import { deliveryId, timeOfId } from '@hqrelay/domain/ids';
import type { DeliveryFields, Envelope, Message } from '@hqrelay/queue/messages';

/** One webhook on its way to one endpoint, as a message carries it. */
export type Delivery = {
  envelope: Envelope;
  fields: DeliveryFields;
  body: Buffer;
  /** ms since epoch. */
  receivedAt: number;
  /** It may not be the only message of this delivery and attempt. */
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
  return { envelope, fields, body, receivedAt: timeOfId(envelope.id), redelivered };
}

/** The message of a delivery, with `changes` to where it stands. `copy` is not handed on: it spoke of this message alone. */
export function messageOf(
  delivery: Delivery,
  changes: Partial<DeliveryFields> & { copy?: boolean } = {},
): Message {
  const { copy, ...fields } = changes;
  const { copy: _copy, ...envelope } = delivery.envelope;
  return {
    envelope: { ...envelope, delivery: { ...delivery.fields, ...fields }, ...(copy && { copy }) },
    body: delivery.body,
  };
}
