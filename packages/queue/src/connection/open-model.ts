import { connect, type ChannelModel } from 'amqplib';

const handshakeTimeoutMs = 5_000;
const heartbeatSeconds = 5;

/** Connects to the broker; amqplib calls a connection a model. `name` is shown in the broker's list of connections. */
export function openModel(url: string, name: string): Promise<ChannelModel> {
  return connect(withHeartbeat(url), {
    noDelay: true,
    keepAlive: true,
    timeout: handshakeTimeoutMs,
    writableHighWaterMark: 1 << 20,
    clientProperties: { connection_name: name },
  } as Parameters<typeof connect>[1]);
}

/** The broker's default would notice a dead peer after two minutes. */
function withHeartbeat(text: string): string {
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.href;
}

/** Ends a connection at once, without waiting for the broker. */
export function destroyModel(model: ChannelModel): void {
  const { stream } = (model as unknown as { connection: { stream?: { destroy(error: Error): void } } })
    .connection;
  // With an error: without one amqplib does not notice.
  if (stream) stream.destroy(new Error('destroyed by this process'));
  else {
    model.close().catch(() => {
      // It is closed already.
    });
  }
}
