import { deliveryId } from '@hqrelay/domain/ids';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { encodeMessage, type DeliveryFields } from '@hqrelay/queue/messages';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { workExchange, type WorkQueue } from '@hqrelay/queue/topology';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { connect } from 'amqplib';
import { workQueueOf } from '../src/outgoing/outgoing.ts';

export type Target = { projectId: string; endpointId: string };

type Options = {
  count: number;
  bytes: number;
  lane?: DeliveryFields['lane'];
  /** False: into the queue of the lane whatever the size, as versions with one size class did. */
  isSized?: boolean;
};

type Connected = { send: (queue: WorkQueue, body: Buffer) => Promise<void>; close: () => Promise<void> };

async function connectPublisher(rabbitmqUrl: string): Promise<Connected> {
  const connection = new BrokerConnection({ urls: [rabbitmqUrl], name: 'test', onChange: () => {} });
  const publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 30_000, inFlightMax: 5_000 });
  connection.start();
  await waitFor('the connection', () => publisher.health.isUp);
  return {
    send: async (routingKey, body) => {
      const result = await publisher.publish({ exchange: workExchange, routingKey, body });
      if (result.kind !== 'confirmed') throw new Error(`not published: ${result.reason}`);
    },
    close: () => connection.stop(),
  };
}

async function connectOlderVersion(rabbitmqUrl: string): Promise<Connected> {
  const model = await connect(rabbitmqUrl);
  const channel = await model.createConfirmChannel();
  return {
    send: async (queue, body) => {
      channel.publish(workExchange, queue, body, { persistent: true, mandatory: true });
      await channel.waitForConfirms();
    },
    close: () => model.close(),
  };
}

/** Publishes webhooks as the receiver does, without their rows, to the endpoints in turn. */
export async function publishWebhooks(
  rabbitmqUrl: string,
  targets: readonly Target[],
  { count, bytes, lane = 'live', isSized = true }: Options,
): Promise<string[]> {
  const { send, close } = await (isSized ? connectPublisher(rabbitmqUrl) : connectOlderVersion(rabbitmqUrl));
  const ids = Array.from({ length: count }, () => freshId());
  const body = Buffer.alloc(bytes, 'x');
  const publish = async (id: string, number: number) => {
    const { projectId, endpointId } = targets[number % targets.length] as Target;
    const envelope = {
      v: 1 as const,
      id,
      projectId,
      eventType: null,
      correlationId: id,
      endpointIds: [endpointId],
      headers: [['content-type', 'text/plain']] as [string, string][],
      delivery: {
        deliveryId: deliveryId(id, endpointId),
        endpointId,
        attemptNum: 1,
        lane,
        notBefore: 0,
      },
    };
    await send(workQueueOf(lane), encodeMessage({ envelope, body }));
  };
  // A few MiB at a time.
  const atOnce = Math.max(1, Math.floor(4_000_000 / (bytes + 1_000)));
  for (let i = 0; i < count; i += atOnce) {
    await Promise.all(ids.slice(i, i + atOnce).map((id, index) => publish(id, i + index)));
  }
  await close();
  return ids;
}
