import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { BrokerConnection } from '../src/connection/broker-connection.ts';
import { Consumer } from '../src/consumer.ts';
import { Publisher } from '../src/publishing/publisher.ts';
import { delayName, workExchange } from '../src/topology.ts';

let world: World;
let connection: BrokerConnection;
let publisher: Publisher;
let consumer: Consumer;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 5_000, inFlightMax: 10 });
  consumer = new Consumer({
    queue: 'hqrelay.retries',
    connection,
    prefetch: 10,
    handle: async () => 'ack',
    onError: () => {},
  });
  connection.start();
  await waitFor('the connection', () => publisher.health.isUp && consumer.isConsuming);
});

afterAll(async () => {
  await connection.stop();
  await world.close();
});

/** The start of a second, because the broker's times have whole seconds. */
const secondOf = (ms: number) => Math.floor(ms / 1_000) * 1_000;

it('a message entered its queue when it was published, and one from a delay queue when its delay was over', async () => {
  expect(consumer.newestEnqueuedAt).toBeUndefined();
  const publishedAt = Date.now();
  const message = { routingKey: 'hqrelay.retries', body: Buffer.from('x') };
  await publisher.publish({ exchange: workExchange, ...message });
  const atOnce = await waitFor('the message', () => consumer.newestEnqueuedAt);
  expect(atOnce).toBeGreaterThanOrEqual(secondOf(publishedAt));
  expect(atOnce).toBeLessThanOrEqual(Date.now());

  const delayedFrom = Date.now();
  await publisher.publish({ exchange: delayName('2s'), ...message });
  const later = await waitFor('the delayed message', () => {
    const { newestEnqueuedAt = 0 } = consumer;
    return newestEnqueuedAt > atOnce && newestEnqueuedAt;
  });
  expect(later).toBeGreaterThanOrEqual(secondOf(delayedFrom) + 2_000);
});
