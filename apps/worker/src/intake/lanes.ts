import type { WorkQueue } from '@hqrelay/queue/topology';

type Lane = {
  queue: WorkQueue;
  /** New webhooks: the others go only as fast as these do not notice. */
  isLive: boolean;
  messagesMax: number;
  /** What all endpoints may have in flight together: fewer than its messages, so that it still takes in others' while some hang. */
  slots: number;
  bytesMax: number;
};

const mib = 1 << 20;

/** What a worker has in flight at once. Each lane has its own, so that neither retries nor replays take the live one's place. */
export const lanes: readonly Lane[] = [
  { queue: 'hqrelay.webhooks', isLive: true, messagesMax: 2_500, slots: 2_000, bytesMax: 96 * mib },
  { queue: 'hqrelay.retries', isLive: false, messagesMax: 600, slots: 480, bytesMax: 48 * mib },
  { queue: 'hqrelay.replays', isLive: false, messagesMax: 400, slots: 320, bytesMax: 48 * mib },
];

/** All of them together. */
export const inFlightMax = lanes.reduce((sum, { messagesMax }) => sum + messagesMax, 0);

/** What a message has beside the webhook's body; the headers of a request are 16 KiB at most. */
const envelopeBytesMax = 65_536;

/** The bounds of a lane's consumer when a webhook's body has up to `bodyBytesMax`. */
export function intakeOf(
  { messagesMax, bytesMax }: Lane,
  bodyBytesMax: number,
): { prefetch: number; memory: { bytesMax: number; messageBytesMax: number } } {
  return { prefetch: messagesMax, memory: { bytesMax, messageBytesMax: bodyBytesMax + envelopeBytesMax } };
}
