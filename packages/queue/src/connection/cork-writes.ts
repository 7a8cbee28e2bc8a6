import type { ChannelModel } from 'amqplib';

type Muxer = { out: { cork(): void; uncork(): void }; _readIncoming(): void };

/**
 * Sends the messages of one turn of the event loop in one write instead of one system call each: about a third of the
 * publisher's CPU. It uses internals of amqplib 2, and does nothing when they have changed.
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
