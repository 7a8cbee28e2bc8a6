import { Postgres } from '@hqrelay/db/postgres';
import { countOutbox, insertOutbox } from '@hqrelay/db/queries/outbox';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import { delayName, workExchange } from '@hqrelay/queue/topology';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { connect, type Channel, type ChannelModel } from 'amqplib';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { drainOutbox } from '../src/jobs/drain-outbox.ts';

const stuckExchange = delayName('1h');

let world: World;
let postgres: Postgres;
let connection: BrokerConnection;
let publisher: Publisher;
let model: ChannelModel;
let channel: Channel;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  const onChange = () => {};
  postgres = new Postgres({ url: world.databaseUrl, applicationName: 'test', max: 4, onChange });
  connection = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange });
  publisher = new Publisher({ name: 'test', connection, confirmTimeoutMs: 5_000, inFlightMax: 5_000 });
  connection.start();
  await postgres.start();
  await waitFor('the stores', () => publisher.health.isUp && postgres.health.isUp);
  model = await connect(world.rabbitmqUrl);
  channel = await model.createChannel();
  // Without its binding the broker returns every message for the exchange.
  await channel.unbindQueue(stuckExchange, stuckExchange, '');
});

afterAll(async () => {
  await model.close();
  await Promise.all([connection.stop(), postgres.close()]);
  await world.close();
});

afterEach(async () => {
  await world.sql.query('delete from outbox');
  await channel.purgeQueue('hqrelay.webhooks');
});

function put(exchange: string, routingKey: string, text: string): Promise<void> {
  return insertOutbox(postgres.pool, { id: freshId(), exchange, routingKey, message: Buffer.from(text) });
}

async function putMany(count: number, exchange: string, routingKey: string): Promise<void> {
  for (let number = 0; number < count; number += 1) await put(exchange, routingKey, String(number));
}

/** Runs the job until it has published something: while a store does not answer for a moment, it publishes nothing. */
function drainSome(): Promise<number> {
  return waitFor('the drain', async () => (await drainOutbox({ postgres, publisher })) || false);
}

describe('the drain of the outbox', () => {
  it('600 messages that no queue accepts stay in the outbox, and those behind them are published in order', async () => {
    await putMany(600, stuckExchange, 'hqrelay.retries');
    for (const text of ['a', 'b', 'c']) await put(workExchange, 'hqrelay.webhooks', text);
    expect(await drainSome()).toBe(3);
    expect(await countOutbox(postgres.pool)).toBe(600);
    const texts: string[] = [];
    await connection.pull('hqrelay.webhooks', async (content) => void texts.push(content.toString()));
    expect(texts).toEqual(['a', 'b', 'c']);
  });

  it('messages in the outbox whose queue refused them are published when it accepts them again', async () => {
    await putMany(3, stuckExchange, 'hqrelay.retries');
    expect(await drainOutbox({ postgres, publisher })).toBe(0);
    await channel.bindQueue(stuckExchange, stuckExchange, '');
    try {
      expect(await drainSome()).toBe(3);
    } finally {
      await channel.unbindQueue(stuckExchange, stuckExchange, '');
    }
  });
});
