import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import { answerWithin } from './answer-within.ts';

const answerTimeoutMs = 2_000;
const getTimeoutMs = 5_000;

export type BatchLimits = { messagesMax: number; bytesMax: number; stopping?: AbortSignal | undefined };

/** Returns true for each message that is to be acknowledged, in the order of `contents`. */
export type HandleBatch = (contents: readonly Buffer[]) => Promise<readonly boolean[]>;

/** Messages ready in each queue. Throws when the broker does not answer within 2 s. */
export function queueDepths(model: ChannelModel, queues: readonly string[]): Promise<Map<string, number>> {
  return onOwnChannel(model, async (channel) => {
    const depths = new Map<string, number>();
    for (const queue of queues) {
      depths.set(queue, (await answerWithin(answerTimeoutMs, channel.checkQueue(queue))).messageCount);
    }
    return depths;
  });
}

/** See `BrokerConnection.pullBatches`. */
export function pullBatches(
  model: ChannelModel,
  queue: string,
  limits: BatchLimits,
  handle: HandleBatch,
): Promise<number> {
  return onOwnChannel(model, async (channel) => {
    for (let taken = 0; ;) {
      const messages = limits.stopping?.aborted ? [] : await getBatch(channel, queue, limits);
      if (messages.length === 0) return taken;
      const done = await handle(messages.map(({ content }) => content));
      for (const message of messages.filter((_, index) => done[index])) {
        channel.ack(message);
        taken += 1;
      }
    }
  });
}

async function getBatch(
  channel: Channel,
  queue: string,
  { messagesMax, bytesMax }: BatchLimits,
): Promise<GetMessage[]> {
  const messages: GetMessage[] = [];
  for (let bytes = 0; messages.length < messagesMax && bytes < bytesMax;) {
    const message = await answerWithin(getTimeoutMs, channel.get(queue));
    if (!message) break;
    messages.push(message);
    bytes += message.content.length;
  }
  return messages;
}

async function onOwnChannel<T>(model: ChannelModel, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await answerWithin(answerTimeoutMs, model.createChannel());
  channel.on('error', () => {
    // An 'error' without a listener ends the process; the pending call rejects with the same error.
  });
  try {
    return await work(channel);
  } finally {
    await answerWithin(answerTimeoutMs, channel.close()).catch(() => {
      // The connection broke meanwhile, and the channel is closed with it.
    });
  }
}
