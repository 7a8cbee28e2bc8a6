import type { ChannelModel } from 'amqplib';

type Muxer = { out: { cork(): void; uncork(): void }; _readIncoming(): void };

/**
 * Lets the messages of one turn of the event loop leave in one write instead of one system call each: about a third of
 * the publisher's CPU. It reaches into amqplib 2, so it looks before it touches, and does nothing where that has changed.
 */
export function corkWrites(model: ChannelModel): void {
  const muxer = (model as unknown as { connection?: { muxer?: Partial<Muxer> } }).connection?.muxer;
  if (typeof muxer?._readIncoming !== 'function' || typeof muxer.out?.cork !== 'function') return;
  const { out } = muxer as Muxer;
  const readIncoming = muxer._readIncoming.bind(muxer);
  muxer._readIncoming = () => {
    out.cork();
    try {
      readIncoming();
    } finally {
      process.nextTick(() => out.uncork());
    }
  };
}
