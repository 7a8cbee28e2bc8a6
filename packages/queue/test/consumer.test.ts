import { createWorld, type World } from '@hqrelay/testing/world';
import { waitFor } from '@hqrelay/testing/wait-for';
import type { Channel, ChannelModel, Message } from 'amqplib';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { BrokerConnection } from '../src/connection/broker-connection.ts';
import { Consumer, type ConsumerOptions, type ReceivedMessage, type Verdict } from '../src/consumer.ts';
import { Publisher } from '../src/publishing/publisher.ts';
import { workExchange, type WorkQueue } from '../src/topology.ts';

let world: World;
let publishing: BrokerConnection;
let publisher: Publisher;
const connections: BrokerConnection[] = [];

beforeAll(async () => {
  world = await createWorld(inject('run'));
  publishing = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  publisher = new Publisher({
    name: 'test',
    connection: publishing,
    confirmTimeoutMs: 5_000,
    inFlightMax: 100,
  });
  publishing.start();
  await waitFor('the connection', () => publisher.health.isUp);
});

afterAll(async () => {
  await publishing.stop();
  await world.close();
});

afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.stop()));
  for (const queue of ['hqrelay.webhooks', 'hqrelay.retries'] as const) {
    await publishing.pull(queue, async () => {});
  }
});

/** Gives a test the channel, which no other code may touch. */
class OpenConsumer extends Consumer {
  channel: Channel | undefined;

  override async open(model: ChannelModel): Promise<Channel> {
    this.channel = await super.open(model);
    return this.channel;
  }
}

async function consume(
  queue: WorkQueue,
  handle: (message: ReceivedMessage) => Promise<Verdict>,
  options: Partial<ConsumerOptions> = {},
) {
  const connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  connections.push(connection);
  const errors: unknown[] = [];
  const consumer = new OpenConsumer({
    queue,
    connection,
    prefetch: 10,
    handle,
    onError: (error) => errors.push(error),
    ...options,
  });
  connection.start();
  await waitFor('the consumer', () => consumer.isConsuming);
  return { consumer, connection, errors };
}

async function send(queue: WorkQueue, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    const body = Buffer.from(text);
    expect(await publisher.publish({ exchange: workExchange, routingKey: queue, body })).toEqual({
      kind: 'confirmed',
    });
  }
}

describe('a consumer', () => {
  it('a message that was handled is acknowledged and not redelivered', async () => {
    const seen: string[] = [];
    const { connection, consumer } = await consume('hqrelay.webhooks', async ({ content }) => {
      seen.push(content.toString());
      return 'ack';
    });
    await send('hqrelay.webhooks', 'a', 'b');
    await waitFor('both', () => seen.length === 2 && consumer.inFlight === 0);
    await connection.stop();
    expect(await publishing.pull('hqrelay.webhooks', async () => {})).toBe(0);
  });

  it('a message whose handler fails is reported, requeued, and redelivered with its flag', async () => {
    const seen: boolean[] = [];
    const { errors } = await consume('hqrelay.webhooks', async ({ redelivered }) => {
      seen.push(redelivered);
      if (seen.length === 1) throw new Error('a bug');
      return 'ack';
    });
    const sentAt = performance.now();
    await send('hqrelay.webhooks', 'x');
    await waitFor('the second time', () => seen.length === 2);
    expect(seen).toEqual([false, true]);
    expect(errors).toEqual([new Error('a bug')]);
    // A failing message is not redelivered at full speed.
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(900);
  });

  it('a consumer whose channel the broker closed opens another and is redelivered its messages', async () => {
    const seen: string[] = [];
    let release: (() => void) | undefined;
    const { consumer } = await consume('hqrelay.webhooks', async ({ content, redelivered }) => {
      seen.push(`${content.toString()} ${redelivered}`);
      if (seen.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return 'ack';
    });
    await send('hqrelay.webhooks', 'held');
    await waitFor('the message', () => release !== undefined);
    const dead = consumer.channel;
    // The broker closes a channel that acknowledges a message it never got.
    dead?.ack({ fields: { deliveryTag: 4_711 } } as Message);
    await waitFor('another channel', () => consumer.channel !== dead && consumer.isConsuming);
    await send('hqrelay.webhooks', 'after');
    await waitFor('both', () => seen.length === 3);
    expect(seen.toSorted((a, b) => a.localeCompare(b))).toEqual(['after false', 'held false', 'held true']);
    release?.();
    await waitFor('the verdict of the dead channel to be dropped', () => consumer.inFlight === 0);
    expect(consumer.isConsuming).toBe(true);
  });

  it('a consumer whose queue was deleted declares it again and consumes it', async () => {
    const seen: string[] = [];
    const { consumer } = await consume('hqrelay.retries', async ({ content }) => {
      seen.push(content.toString());
      return 'ack';
    });
    const deleted = consumer.channel;
    // No answer comes, because the broker closes the channel with its consumer.
    deleted?.deleteQueue('hqrelay.retries').catch(() => {});
    await waitFor('another channel', () => consumer.channel !== deleted && consumer.isConsuming);
    await send('hqrelay.retries', 'after');
    await waitFor('the message', () => seen.includes('after'));
  });

  it('a consumer that drains finishes the messages in work, starts no other, and requeues the rest in order', async () => {
    const begun: string[] = [];
    const finish: (() => void)[] = [];
    const { consumer, connection } = await consume(
      'hqrelay.webhooks',
      ({ content }) => {
        begun.push(content.toString());
        return new Promise<Verdict>((resolve) => finish.push(() => resolve('ack')));
      },
      { prefetch: 3 },
    );
    await send('hqrelay.webhooks', ...'1 2 3 4 5 6 7 8'.split(' '));
    await waitFor('the first ones', () => begun.length === 3);

    let isDrained = false;
    const drained = consumer.drain(10_000).then(() => (isDrained = true));
    expect(consumer.isConsuming).toBe(false);
    finish[0]?.();
    finish[1]?.();
    await waitFor('two verdicts', () => consumer.inFlight === 1);
    expect(isDrained).toBe(false);
    finish[2]?.();
    await drained;
    await connection.stop();

    const rest: string[] = [];
    await publishing.pull('hqrelay.webhooks', async (content) => {
      rest.push(content.toString());
    });
    expect(begun).toEqual(['1', '2', '3']);
    expect(rest).toEqual(['4', '5', '6', '7', '8']);
  });

  it('a consumer that closes with many verdicts loses none of them', async () => {
    const { consumer, connection } = await consume(
      'hqrelay.webhooks',
      async ({ content }) => {
        await waitFor('the end', () => !consumer.isConsuming);
        return content.toString().startsWith('not') ? 'requeue' : 'ack';
      },
      { prefetch: 200 },
    );
    const texts = Array.from({ length: 200 }, (_, index) =>
      index % 50 === 49 ? `not ${index}` : `${index}`,
    );
    await send('hqrelay.webhooks', ...texts);
    await waitFor('all of them', () => consumer.inFlight === 200);
    await consumer.drain(10_000);
    await connection.stop();

    const rest: string[] = [];
    await publishing.pull('hqrelay.webhooks', async (content) => {
      rest.push(content.toString());
    });
    expect(rest).toEqual(['not 49', 'not 99', 'not 149', 'not 199']);
  });

  it('a consumer drains no longer than its deadline', async () => {
    const { consumer } = await consume('hqrelay.webhooks', () => new Promise<Verdict>(() => {}));
    await send('hqrelay.webhooks', 'never');
    await waitFor('the message', () => consumer.inFlight === 1);
    const startedAt = performance.now();
    await consumer.drain(300);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('pulling a queue', () => {
  it('pulling a queue handles all its messages, and leaves those whose handler fails', async () => {
    await send('hqrelay.webhooks', 'a', 'b', 'c');
    const seen: string[] = [];
    const pulling = publishing.pull('hqrelay.webhooks', async (content) => {
      seen.push(content.toString());
      if (seen.length === 2) throw new Error('Postgres went away');
    });
    await expect(pulling).rejects.toThrow('Postgres went away');
    expect(seen).toEqual(['a', 'b']);
    const rest: string[] = [];
    const count = await publishing.pull('hqrelay.webhooks', async (content) => {
      rest.push(content.toString());
    });
    expect(rest).toEqual(['b', 'c']);
    expect(count).toBe(2);
  });

  it('pulling a queue in batches takes no more at once than the limit, and leaves the messages not handled', async () => {
    await send('hqrelay.webhooks', 'a', 'bb', 'c', 'd', 'e');
    const batches: string[][] = [];
    const pulling = (limits: { messagesMax: number; bytesMax: number }) =>
      publishing.pullBatches('hqrelay.webhooks', limits, async (contents) => {
        const texts = contents.map((content) => content.toString());
        batches.push(texts);
        return texts.map((text) => text !== 'c');
      });
    expect(await pulling({ messagesMax: 2, bytesMax: 100 })).toBe(4);
    expect(batches).toEqual([['a', 'bb'], ['c', 'd'], ['e']]);

    await send('hqrelay.webhooks', 'ff', 'g');
    batches.length = 0;
    expect(await pulling({ messagesMax: 100, bytesMax: 2 })).toBe(2);
    expect(batches.flat().toSorted()).toEqual(['c', 'ff', 'g']);
    expect(batches.every((texts) => texts.length <= 2)).toBe(true);

    expect(await publishing.pull('hqrelay.webhooks', async () => {})).toBe(1);
  });
});
