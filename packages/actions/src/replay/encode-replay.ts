import type { RecordedWebhook, Replay } from '@hqrelay/db/queries/replays';
import { encodeMessage } from '@hqrelay/queue/messages';

/** The message that a worker gets when a replay is due: a first attempt, under the webhook's own id. */
export function encodeReplay(webhook: RecordedWebhook, replay: Replay): Buffer {
  return encodeMessage({
    envelope: {
      v: 1,
      id: webhook.id,
      projectId: webhook.projectId,
      eventType: webhook.eventType,
      correlationId: webhook.correlationId,
      endpointIds: [replay.endpointId],
      headers: webhook.headers,
      ...(webhook.credentials && { credentials: webhook.credentials }),
      // A release publishes it before it deletes the held delivery, and may publish it twice.
      mayBeDuplicate: 'done_if_recorded',
      delivery: {
        deliveryId: replay.deliveryId,
        endpointId: replay.endpointId,
        attemptNum: 1,
        lane: 'replay',
        notBefore: replay.dueAt,
        replayId: replay.replayId,
      },
    },
    body: webhook.payload,
  });
}
