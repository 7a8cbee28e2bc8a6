import { createWorld, type World } from '@hqrelay/testing/world';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { BrokerConnection } from '../src/connection.ts';
import { Consumer, type ConsumerOptions, type ReceivedMessage, type Verdict } from '../src/consumer.ts';
import { Publisher } from '../src/publisher.ts';
import { workExchange } from '../src/topology.ts';

const queue = 'hqrelay.webhooks';
const kib = 1_024;
const memory = { bytesMax: 1_024 * kib, messageBytesMax: 64 * kib };

let world: World;
let publishing: BrokerConnection;
let publisher: Publisher;
const connections: BrokerConnection[] = [];

beforeAll(async () => {
  world = await createWorld(inject('run'));
  publishing = connection();
  publisher = new Publisher({
    name: 'test',
    connection: publishing,
    confirmTimeoutMs: 20_000,
    inFlightMax: 5_000,
  });
  publishing.start();
  await waitFor('the connection', () => publishing.health.isUp);
});

afterAll(async () => {
  await publishing.stop();
  await world.close();
});

afterEach(async () => {
  await Promise.all(connections.splice(1).map((each) => each.stop()));
  await publishing.pull(queue, async () => {});
});

function connection(): BrokerConnection {
  const made = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  connections.push(made);
  return made;
}

let published = 0;

async function publish(count: number, bytes: number): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: count }, () => {
      const body = Buffer.alloc(bytes, 'x');
      body.writeUInt32BE(published++);
      return publisher.publish({ exchange: workExchange, routingKey: queue, body });
    }),
  );
  expect(results.filter(({ kind }) => kind !== 'confirmed')).toEqual([]);
}

/** A consumer whose messages stay in flight until they are let go. */
function holding(options: Partial<ConsumerOptions> = {}) {
  const held: ((verdict: Verdict) => void)[] = [];
  const seen = { messages: 0, twice: 0, bytesMost: 0, redelivered: 0 };
  const ids = new Set<number>();
  const errors: unknown[] = [];
  const consuming = connection();
  const consumer = new Consumer({
    queue,
    connection: consuming,
    prefetch: 600,
    memory,
    handle: ({ content, redelivered }: ReceivedMessage) => {
      const id = content.readUInt32BE();
      seen.messages += 1;
      seen.bytesMost = Math.max(seen.bytesMost, consumer.bytesInFlight);
      if (ids.has(id)) seen.twice += 1;
      if (redelivered) seen.redelivered += 1;
      ids.add(id);
      return new Promise((settle) => held.push(settle));
    },
    onError: (error) => errors.push(error),
    ...options,
  });
  consuming.start();
  const letGo = (count = held.length) => {
    for (const settle of held.splice(0, count)) settle('ack');
  };
  return { consumer, consuming, held, seen, errors, letGo };
}

const empty = async () => (await publishing.queueDepths([queue])).get(queue) === 0;

describe('a consumer', () => {
  it('holds as many small messages as its prefetch says, and no more', async () => {
    await publish(700, 100);
    const { consumer, held, letGo } = holding();
    await waitFor('600 in flight', () => consumer.inFlight === 600);
    expect((await publishing.queueDepths([queue])).get(queue)).toBe(100);
    letGo();
    await waitFor('the others', () => held.length === 100);
    letGo();
    await waitFor('all done', () => consumer.inFlight === 0);
  });

  it('holds no more than its bytes when every message is as large as can be, and does them all', async () => {
    await publish(60, memory.messageBytesMax);
    const { consumer, held, seen, letGo } = holding();
    await waitFor('the bound', () => held.length >= 15);
    while (seen.messages < 60) {
      await waitFor('more', () => held.length > 0);
      letGo(5);
    }
    letGo();
    await waitFor('all done', () => consumer.inFlight === 0);
    expect(seen.bytesMost).toBeGreaterThan(memory.bytesMax * 0.7);
    expect(seen.bytesMost).toBeLessThanOrEqual(memory.bytesMax);
    expect(seen.twice).toBe(0);
  });

  it('holds no more than its bytes when small ones are done all at once and large ones follow', async () => {
    await publish(400, 100);
    const { consumer, held, seen, letGo } = holding();
    await waitFor('400 small ones', () => held.length === 400);
    await publish(100, memory.messageBytesMax);
    letGo();
    while (seen.messages < 500) {
      await waitFor('more', () => held.length > 0);
      letGo(5);
    }
    letGo();
    await waitFor('all done', () => consumer.inFlight === 0);
    expect(seen.bytesMost).toBeLessThanOrEqual(memory.bytesMax);
    await waitFor('every verdict told', empty);
    await publish(400, 100);
    await waitFor('400 small ones again', () => held.length === 400);
    letGo();
    await waitFor('all done', () => consumer.inFlight === 0);
    expect(seen.twice).toBe(0);
  });

  it('leaves nothing unacknowledged behind when it has nothing to do, many times over', async () => {
    const { consumer, consuming, held, letGo } = holding();
    for (let round = 0; round < 10; round += 1) {
      await publish(400, 100);
      await waitFor('400 in flight', () => held.length === 400, { everyMs: 1 });
      letGo();
      await waitFor('no verdict left', () => consumer.unacknowledged === 0);
    }
    // The broker, which says so a few seconds late, has lost sight of none.
    await waitFor('the broker to agree', async () => (await unacknowledged()) === 0, { timeoutMs: 25_000 });
    await consuming.stop();
    expect(await empty()).toBe(true);
  });

  it('gives a message back whose handling takes too long', async () => {
    await publish(1, 100);
    const { seen, errors } = holding({ handleWithinMs: 50 });
    await waitFor('the message again', () => seen.redelivered === 1);
    expect(String(errors[0])).toContain('took longer than 50 ms');
  });

  it('that drains tells every verdict at once, and gives back what it has not begun', async () => {
    const first = published;
    await publish(700, 100);
    const { consumer, consuming, held, letGo } = holding();
    await waitFor('600 in flight', () => held.length === 600);
    const drained = consumer.drain(10_000);
    letGo();
    await drained;
    await consuming.stop();
    const left: number[] = [];
    await publishing.pull(queue, async (content) => void left.push(content.readUInt32BE()));
    expect(left).toEqual(Array.from({ length: 100 }, (_, i) => first + 600 + i));
  });
});

/** As the management interface knows it, which is a few seconds late. */
async function unacknowledged(): Promise<number> {
  const { origin, username, password } = new URL(world.rabbitmqManagementUrl);
  const vhost = new URL(world.rabbitmqUrl).pathname.slice(1);
  const response = await fetch(`${origin}/api/queues/${vhost}/${queue}`, {
    headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
  });
  const { messages_unacknowledged: count = -1 } = (await response.json()) as {
    messages_unacknowledged?: number;
  };
  return count;
}
