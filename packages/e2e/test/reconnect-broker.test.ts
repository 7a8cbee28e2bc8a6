import { BrokerConnection, type ChannelUser } from '@hqrelay/queue/connection/broker-connection';
import { auditQueue } from '@hqrelay/queue/topology';
import type { RunningServer } from '@hqrelay/services/running-server';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { Channel, ChannelModel } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

/** A user of the connection that records its channels and can fail to open one. */
class RecordingUser implements ChannelUser {
  readonly channels: Channel[] = [];
  readonly models = new Set<ChannelModel>();
  lostCount = 0;
  beforeOpening: () => Promise<void> = async () => {};

  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async open(model: ChannelModel): Promise<Channel> {
    await this.beforeOpening();
    const channel = await model.createChannel();
    this.channels.push(channel);
    this.models.add(model);
    return channel;
  }

  lost(): void {
    this.lostCount += 1;
  }
}

/** Makes the broker close the channel. */
function breakChannel(channel: Channel | undefined): void {
  channel?.checkQueue('there is no such queue').catch(() => {
    // The failure of the check closes the channel.
  });
}

describe('a connection to the broker', () => {
  let world: World;
  let broker: RunningServer;
  let connection: BrokerConnection;
  let one: RecordingUser;
  let other: RecordingUser;

  beforeAll(async () => {
    world = await createWorld(inject('run'), { own: ['rabbitmq'] });
    broker = world.servers.rabbitmq as RunningServer;
  });

  afterAll(() => world?.close());

  beforeEach(() => {
    connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
    one = new RecordingUser('one');
    other = new RecordingUser('other');
    connection.use(one);
    connection.use(other);
  });

  afterEach(() => connection.stop());

  const up = () => waitFor('the connection', () => connection.health.isUp);

  it('a channel that the broker closes is opened again, and the other channels stay open', async () => {
    connection.start();
    await up();
    breakChannel(one.channels[0]);
    await waitFor('a second channel', () => one.channels.length === 2);
    expect(one.lostCount).toBe(1);
    expect(other.channels).toHaveLength(1);
    expect(one.models.size).toBe(1);
    await one.channels[1]?.checkQueue(auditQueue);
  });

  it('the connection is replaced when a channel cannot be opened again', async () => {
    connection.start();
    await up();
    one.beforeOpening = async () => {
      one.beforeOpening = async () => {};
      throw new Error('not now');
    };
    breakChannel(one.channels[0]);
    await waitFor('a second connection', () => one.models.size === 2 && other.models.size === 2);
    await up();
    await one.channels.at(-1)?.checkQueue(auditQueue);
  });

  it('the connection is replaced when a channel closes while others are being opened', async () => {
    other.beforeOpening = async () => {
      other.beforeOpening = async () => {};
      await waitFor('the first channel', () => one.channels.length === 1);
      breakChannel(one.channels[0]);
      await waitFor('the channel to close', () => one.lostCount === 1);
    };
    connection.start();
    await waitFor('a second connection', () => one.models.size === 2);
    await up();
    for (const user of [one, other]) await user.channels.at(-1)?.checkQueue(auditQueue);
  });

  it('every channel is opened again after a restart of the broker', async () => {
    connection.start();
    await up();
    await broker.kill();
    await waitFor(
      'the loss',
      () => connection.health.state === 'down' && one.lostCount === 1 && other.lostCount === 1,
    );
    expect(connection.health.detail).toBeTruthy();
    await broker.start();
    await up();
    for (const user of [one, other]) await user.channels.at(-1)?.checkQueue(auditQueue);
  });

  it('a pull ends when the broker stops answering, and its message stays in the queue', async () => {
    connection.start();
    await up();
    one.channels[0]?.sendToQueue(auditQueue, Buffer.from('kept'), { persistent: true });
    await waitFor(
      'the message',
      async () => (await connection.queueDepths([auditQueue])).get(auditQueue) === 1,
    );
    const pulled = connection.pull(auditQueue, async () => {
      broker.freeze();
      throw new Error('the store is unavailable');
    });
    await expect(pulled).rejects.toThrow('the store is unavailable');
    await broker.kill();
    await broker.start();
    await up();
    const contents: string[] = [];
    await waitFor('the message to be redelivered', async () => {
      await connection.pull(auditQueue, async (content) => void contents.push(content.toString()));
      return contents.length > 0;
    });
    expect(contents).toEqual(['kept']);
  });
});
