import { delayLadder } from '@hqrelay/domain/delivery/retry-schedule';
import type { Channel } from 'amqplib';

/** The queues that workers consume. Each has a sibling for large messages. */
export const workQueues = ['hqrelay.webhooks', 'hqrelay.retries', 'hqrelay.replays'] as const;
export type WorkQueue = (typeof workQueues)[number];

/** The size of a message with its envelope. A larger one goes to the sibling of its queue. */
export const smallMessageBytesMax = 32_768;

export const largeQueueOf = (queue: WorkQueue): `${WorkQueue}.large` => `${queue}.large`;

/** Both sizes of every work queue. */
export const sizedWorkQueues = workQueues.flatMap((queue) => [queue, largeQueueOf(queue)]);

export const deadLetterQueue = 'hqrelay.dead-letter';
export const auditQueue = 'hqrelay.audit';

/** Routes to a work queue by its name; delay queues dead-letter to it. */
export const workExchange = 'hqrelay.work';

/** The routing key that takes a message for a work queue to the queue of its size; other routing keys stay. */
export function sizedRoutingKey(routingKey: string, messageBytes: number): string {
  return messageBytes > smallMessageBytesMax && isWorkQueue(routingKey)
    ? largeQueueOf(routingKey)
    : routingKey;
}

function isWorkQueue(name: string): name is WorkQueue {
  return (workQueues as readonly string[]).includes(name);
}

/** The exchange and queue of one rung. The routing key of its messages is the work queue that they return to. */
export const delayName = (rung: string): string => `hqrelay.delay.${rung}`;

// Quorum: fsynced before the confirm, on one node as on three.
const quorum = { 'x-queue-type': 'quorum' };

// At-least-once dead lettering keeps a message until its next queue has confirmed it; it works only together with
// reject-publish, and falls back silently to at-most-once with any other overflow.
const atLeastOnce = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };

// Explicit, because the default differs between brokers (none before 4.0), and because the broker drops a message over the
// limit when there is no dead-letter exchange. 20, because a crash counts against every message that the worker holds.
const deliveryLimit = { 'x-delivery-limit': 20, 'x-dead-letter-exchange': deadLetterQueue };

/** Every queue that messages are published to. */
export const allQueues: readonly string[] = [
  ...sizedWorkQueues,
  deadLetterQueue,
  auditQueue,
  ...delayLadder.map((rung) => delayName(rung.name)),
];

/** The queue that a message reaches. Work queues and single queues are named by the routing key, delay queues by the exchange. */
export function queueOf(exchange: string, routingKey: string): string {
  return exchange === workExchange || exchange === '' ? routingKey : exchange;
}

/** Declares every exchange and queue. Throws when one exists with other arguments. */
export async function assertTopology(channel: Channel): Promise<void> {
  await channel.assertExchange(workExchange, 'direct', { durable: true });
  await channel.assertExchange(deadLetterQueue, 'fanout', { durable: true });

  await channel.assertQueue(deadLetterQueue, {
    durable: true,
    arguments: { ...quorum, 'x-delivery-limit': 1_000_000 },
  });
  await channel.bindQueue(deadLetterQueue, deadLetterQueue, '');
  await channel.assertQueue(auditQueue, {
    durable: true,
    // Consumed only while Postgres is up. The limit is meant never to be reached: brokers from 4.0 on would drop at 20.
    arguments: { ...quorum, 'x-delivery-limit': 1_000_000, 'x-dead-letter-exchange': deadLetterQueue },
  });

  for (const queue of sizedWorkQueues) {
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { ...quorum, ...atLeastOnce, ...deliveryLimit },
    });
    await channel.bindQueue(queue, workExchange, queue);
  }

  for (const rung of delayLadder) {
    const name = delayName(rung.name);
    await channel.assertExchange(name, 'fanout', { durable: true });
    await channel.assertQueue(name, {
      durable: true,
      // One TTL for the whole queue: only the head of a queue expires, so a short TTL would wait behind a longer one.
      // No dead-letter routing key: each message keeps its own, the work queue that it returns to.
      arguments: {
        ...quorum,
        ...atLeastOnce,
        'x-message-ttl': rung.ms,
        'x-dead-letter-exchange': workExchange,
      },
    });
    await channel.bindQueue(name, name, '');
  }
}
