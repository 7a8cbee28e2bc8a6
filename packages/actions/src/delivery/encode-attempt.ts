import type { RecordedWebhook } from '@hqrelay/db/queries/replays';
import { encodeMessage, type DeliveryFields } from '@hqrelay/queue/messages';

/** The message of an attempt, made from the recorded parts of its webhook and held until it is due. */
export function encodeAttempt(webhook: RecordedWebhook, delivery: DeliveryFields): Buffer {
  return encodeMessage({
    envelope: {
      v: 1,
      id: webhook.id,
      projectId: webhook.projectId,
      eventType: webhook.eventType,
      correlationId: webhook.correlationId,
      endpointIds: [delivery.endpointId],
      headers: webhook.headers,
      ...(webhook.credentials && { credentials: webhook.credentials }),
      ...(webhook.orderingKeys && { orderingKeys: webhook.orderingKeys }),
      // A release publishes it before it deletes the held delivery, and may publish it twice.
      mayBeDuplicate: 'done_if_recorded',
      delivery,
    },
    body: webhook.payload,
  });
}
