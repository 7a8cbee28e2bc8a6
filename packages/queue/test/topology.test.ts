import { createWorld, type World } from '@hqrelay/testing/world';
import { waitFor } from '@hqrelay/testing/wait-for';
import { connect, type Channel, type ChannelModel, type GetMessage } from 'amqplib';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { BrokerConnection } from '../src/connection/broker-connection.ts';
import {
  assertTopology,
  deadLetterQueue,
  delayName,
  largeQueueOf,
  sizedWorkQueues,
  workExchange,
  workQueues,
} from '../src/topology.ts';

let world: World;
let model: ChannelModel;
let channel: Channel;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  model = await connect(world.rabbitmqUrl);
  model.on('error', () => {});
  channel = await model.createChannel();
  channel.on('error', () => {});
  await assertTopology(channel);
});

afterAll(async () => {
  await model.close();
  await world.close();
});

function take(queue: string): Promise<GetMessage> {
  return waitFor(`a message in ${queue}`, () => channel.get(queue, { noAck: true }));
}

/** A connection until the test is over. */
function startConnection(): BrokerConnection {
  const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  connection.start();
  onTestFinished(() => connection.stop());
  return connection;
}

describe('the topology', () => {
  it('the topology can be asserted again, also by several clients at once', async () => {
    const others = await Promise.all([model.createChannel(), model.createChannel()]);
    await Promise.all([assertTopology(channel), ...others.map((other) => assertTopology(other))]);
    await Promise.all(others.map((other) => other.close()));
  });

  it('a queue with other arguments keeps the connection down, with its name and the argument as the reason', async () => {
    await channel.deleteQueue('hqrelay.retries');
    await channel.assertQueue('hqrelay.retries', {
      durable: true,
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 3 },
    });
    const connection = startConnection();
    await waitFor('the reason', () => connection.health.state === 'down');
    expect(connection.health.detail).toContain('hqrelay.retries');
    expect(connection.health.detail).toContain('inequivalent arg');
    await channel.deleteQueue('hqrelay.retries');
    await waitFor('the connection', () => connection.health.isUp);
  });

  it('the topology of a version with one size class gains the missing queues and keeps its messages', async () => {
    for (const queue of workQueues) await channel.deleteQueue(largeQueueOf(queue));
    channel.publish(workExchange, 'hqrelay.webhooks', Buffer.from('kept'), { persistent: true });
    const connection = startConnection();
    await waitFor('the connection', () => connection.health.isUp);
    const depths = await connection.queueDepths(workQueues.map(largeQueueOf));
    expect([...depths.values()]).toEqual([0, 0, 0]);
    expect((await take('hqrelay.webhooks')).content.toString()).toBe('kept');
  });

  it.each(sizedWorkQueues)('a message is routed to %s by the name of the queue', async (queue) => {
    channel.publish(workExchange, queue, Buffer.from(queue), { persistent: true, mandatory: true });
    const message = await take(queue);
    expect(message.content.toString()).toBe(queue);
  });

  it('a delay queue returns a message to the work queue that it names, not before its time, any number of times', async () => {
    const queue = 'hqrelay.retries';
    let content: Buffer = Buffer.from('round');
    for (let round = 1; round <= 4; round += 1) {
      const sentAt = performance.now();
      channel.publish(delayName('1s'), queue, content, { persistent: true, mandatory: true });
      const message = await take(queue);
      expect(performance.now() - sentAt).toBeGreaterThanOrEqual(990);
      expect(message.content.toString()).toBe('round');
      ({ content } = message);
    }
  });

  it('a delay queue keeps the order of its messages and the work queue of each', async () => {
    for (const [index, queue] of [...workQueues, ...workQueues].entries()) {
      channel.publish(delayName('1s'), queue, Buffer.from(String(index)), { persistent: true });
    }
    for (const [index, queue] of workQueues.entries()) {
      expect((await take(queue)).content.toString()).toBe(String(index));
      expect((await take(queue)).content.toString()).toBe(String(index + workQueues.length));
    }
  });

  it.each(sizedWorkQueues)(
    'a message that %s has redelivered 20 times is dead-lettered with its bytes',
    async (queue) => {
      const consuming = await model.createChannel();
      let given = 0;
      await consuming.consume(queue, (message) => {
        given += 1;
        if (message) consuming.nack(message, false, true);
      });
      channel.publish(workExchange, queue, Buffer.from(`poison of ${queue}`), { persistent: true });
      const parked = await take(deadLetterQueue);
      await consuming.close();
      expect(parked.content.toString()).toBe(`poison of ${queue}`);
      expect(given).toBe(21);
      expect(await channel.get(queue)).toBe(false);
    },
  );
});
