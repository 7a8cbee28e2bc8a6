import { largeQueueOf, smallMessageBytesMax, type WorkQueue } from '@hqrelay/queue/topology';

/** One queue that a worker consumes, and what it may have in flight of it. */
export type Lane = {
  queue: string;
  /** New webhooks: the other lanes give way to them. */
  isLive: boolean;
  prefetch: number;
  /** How many more it may have in flight while they take long. */
  prefetchMore: number;
  messageBytesMax: number;
  /** What all endpoints may have in flight together: fewer than the messages, so that it still takes in others' while some hang. */
  slots: number;
};

const mib = 1 << 20;

/** Each has its own, so that neither retries nor replays take the place of new webhooks, nor large messages that of small ones. */
const budgets: readonly { queue: WorkQueue; isLive: boolean; smallMax: number; largeBytesMax: number }[] = [
  { queue: 'hqrelay.webhooks', isLive: true, smallMax: 2_500, largeBytesMax: 64 * mib },
  { queue: 'hqrelay.retries', isLive: false, smallMax: 600, largeBytesMax: 32 * mib },
  { queue: 'hqrelay.replays', isLive: false, smallMax: 400, largeBytesMax: 32 * mib },
];

/** What a message has beside the webhook's body; the headers of a request are 16 KiB at most. */
const envelopeBytesMax = 65_536;
/** Messages that wait are copied by V8's collections: 2,500 in place of 600 take 1.15 times the CPU for each delivery. */
const usualMax = 600;
const slotsOf = (prefetch: number) => Math.max(1, Math.floor(prefetch * 0.8));

/** The lanes of a worker, when a webhook's body has up to `bodyBytesMax`. */
export function lanesOf(bodyBytesMax: number): Lane[] {
  const largeMessageBytesMax = bodyBytesMax + envelopeBytesMax;
  return budgets.flatMap(({ queue, isLive, smallMax, largeBytesMax }) => {
    const largeMax = Math.max(1, Math.floor(largeBytesMax / largeMessageBytesMax));
    return [
      {
        queue,
        isLive,
        prefetch: Math.min(smallMax, usualMax),
        prefetchMore: Math.max(0, smallMax - usualMax),
        messageBytesMax: smallMessageBytesMax,
        slots: slotsOf(smallMax),
      },
      {
        queue: largeQueueOf(queue),
        isLive,
        prefetch: largeMax,
        prefetchMore: 0,
        messageBytesMax: largeMessageBytesMax,
        slots: slotsOf(largeMax),
      },
    ];
  });
}
