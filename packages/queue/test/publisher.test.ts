import { createWorld, type World } from '@hqrelay/testing/world';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { BrokerConnection } from '../src/connection/broker-connection.ts';
import type { PublishResult } from '../src/publishing/publish-channel.ts';
import { Publisher } from '../src/publishing/publisher.ts';
import { delayName, largeQueueOf, smallMessageBytesMax, workExchange } from '../src/topology.ts';

let world: World;
let connection: BrokerConnection;
let publisher: Publisher;
let narrow: Publisher;

const queue = 'hqrelay.webhooks' as const;
const body = Buffer.from('message');
const publication = { exchange: workExchange, routingKey: queue, body };

beforeAll(async () => {
  world = await createWorld(inject('run'));
  connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 5_000, inFlightMax: 1_000 });
  narrow = new Publisher({ name: 'narrow', connection, confirmTimeoutMs: 5_000, inFlightMax: 3 });
});

afterAll(async () => {
  await connection.stop();
  await world.close();
});

async function taken(): Promise<string[]> {
  const texts: string[] = [];
  await connection.pull(queue, async (content) => {
    texts.push(content.toString());
  });
  return texts;
}

async function expectTrial(): Promise<void> {
  const trial = publisher.publish(publication);
  expect(publisher.mayPublishTo(queue)).toBe(false);
  // A publish without an alternative waits with the trial.
  const beside = publisher.publish(publication);
  expect(await Promise.all([trial, beside])).toEqual([{ kind: 'confirmed' }, { kind: 'confirmed' }]);
  const next = publisher.publish(publication);
  expect(publisher.mayPublishTo(queue)).toBe(true);
  await next;
}

describe('a publish', () => {
  it('a publish without a connection fails at once', async () => {
    expect(publisher.health.isUp).toBe(false);
    expect(await publisher.publish(publication)).toEqual({
      kind: 'failed',
      reason: 'disconnected',
      maybeStored: false,
    });
    connection.start();
    await waitFor('the connection', () => publisher.health.isUp && narrow.health.isUp);
  });

  it('until the first publish on a new channel is confirmed, mayPublishTo is false for its queue', async () => {
    await expectTrial();
    expect(await taken()).toHaveLength(3);
  });

  it('a publish that reaches its queue is confirmed', async () => {
    expect(await publisher.publish(publication)).toEqual({ kind: 'confirmed' });
    expect(await taken()).toEqual(['message']);
  });

  it('a publish that no queue accepts fails, although the broker confirms it, and no other fails with it', async () => {
    const nowhere = { exchange: workExchange, routingKey: 'hqrelay.nowhere', body };
    const missing = { exchange: '', routingKey: 'no.such.queue', body };
    const results = await Promise.all(
      [publication, nowhere, publication, missing, nowhere, publication].map((each) =>
        publisher.publish(each),
      ),
    );
    const returned: PublishResult = { kind: 'failed', reason: 'returned', maybeStored: false };
    const confirmed: PublishResult = { kind: 'confirmed' };
    expect(results).toEqual([confirmed, returned, confirmed, returned, returned, confirmed]);
    expect(await taken()).toHaveLength(3);
  });

  it('a published message is persistent, so that it stays so when the broker moves it', async () => {
    await publisher.publish(publication);
    const { origin, username, password } = new URL(world.rabbitmqManagementUrl);
    const vhost = new URL(world.rabbitmqUrl).pathname.slice(1);
    const response = await fetch(`${origin}/api/queues/${vhost}/${queue}/get`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
      body: JSON.stringify({ count: 1, ackmode: 'ack_requeue_false', encoding: 'auto' }),
    });
    const [message] = (await response.json()) as { properties: { delivery_mode?: number } }[];
    expect(message?.properties.delivery_mode).toBe(2);
  });

  it('a large message reaches the sibling of its work queue, directly and through a delay queue', async () => {
    const large = Buffer.alloc(smallMessageBytesMax + 1, 'x');
    const small = Buffer.alloc(smallMessageBytesMax, 'x');
    for (const exchange of [workExchange, delayName('1s')]) {
      for (const message of [large, small]) {
        expect(await publisher.publish({ exchange, routingKey: queue, body: message })).toEqual({
          kind: 'confirmed',
        });
      }
      for (const [name, bytes] of [
        [largeQueueOf(queue), large.length],
        [queue, small.length],
      ] as const) {
        const depth = async () => (await connection.queueDepths([name])).get(name) === 1;
        await waitFor(`a message in ${name}`, depth);
        const sizes: number[] = [];
        await connection.pull(name, async (content) => void sizes.push(content.length));
        expect(sizes).toEqual([bytes]);
      }
    }
  });

  it('a publish above the bound of messages in flight fails at once instead of filling memory', async () => {
    const results = await Promise.all(Array.from({ length: 10 }, () => narrow.publish(publication)));
    expect(results.map((result) => (result.kind === 'failed' ? result.reason : result.kind))).toEqual([
      ...Array.from({ length: 3 }, () => 'confirmed'),
      ...Array.from({ length: 7 }, () => 'overloaded'),
    ]);
    expect(await narrow.publish(publication)).toEqual({ kind: 'confirmed' });
    expect(await taken()).toHaveLength(4);
  });

  it('a publish to a missing exchange fails alone: publishes to queues are confirmed, and its channel is opened again', async () => {
    const toNoExchange = () => publisher.publish({ exchange: 'no.such.exchange', routingKey: queue, body });
    const [failed, beside] = await Promise.all([toNoExchange(), publisher.publish(publication)]);
    expect(failed).toMatchObject({ kind: 'failed', reason: 'channel_closed', maybeStored: true });
    expect(beside).toEqual({ kind: 'confirmed' });
    await waitFor('the channel to be open again', () => publisher.mayPublishTo('no.such.exchange'));
    expect(await toNoExchange()).toMatchObject({ reason: 'channel_closed', maybeStored: true });
    expect(connection.health.state).toBe('up');
  });
});
