import type { RecordedWebhook, Replay } from '@hqrelay/db/queries/replays';
import { encodeAttempt } from '../delivery/encode-attempt.ts';

/** The message that a worker gets when a replay is due: a first attempt, under the webhook's own id. */
export function encodeReplay(webhook: RecordedWebhook, replay: Replay): Buffer {
  return encodeAttempt(webhook, {
    deliveryId: replay.deliveryId,
    endpointId: replay.endpointId,
    attemptNum: 1,
    lane: 'replay',
    notBefore: replay.dueAt,
    replayId: replay.replayId,
  });
}
