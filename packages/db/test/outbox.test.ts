import { freshId } from '@hqrelay/testing/fresh-id';
import { countOutbox, drainOutbox, insertOutbox } from '../src/queries/outbox.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { doneOrWaiting } from './done-or-waiting.ts';

const { world, app } = await openWorld();

afterEach(() => world.sql.query('delete from outbox'));

const message = (text: string, id = freshId()) => ({
  id,
  exchange: 'hqrelay.work',
  routingKey: 'hqrelay.retries',
  message: Buffer.from(text),
});

async function texts(): Promise<string[]> {
  const { rows } = await app.query<{ message: Buffer }>('select message from outbox order by seq');
  return rows.map((row) => row.message.toString());
}

const atMost = (limit: number) => ({ limit, smallBytesMax: 32_768 });

describe('the outbox', () => {
  it('the drain publishes whole messages in the order they were inserted, a limited number at a time', async () => {
    const rows = ['1', '2', '3'].map((text) => message(text));
    for (const row of rows) await insertOutbox(app, row);
    const handed: unknown[] = [];
    const publish = async (row: unknown) => handed.push(row) > 0;
    expect(await drainOutbox(app, atMost(2), publish)).toMatchObject({ published: 2 });
    expect(await countOutbox(app)).toBe(1);
    expect(await drainOutbox(app, atMost(2), publish)).toMatchObject({ published: 1 });
    expect(handed).toEqual(rows);
    expect(await drainOutbox(app, atMost(2), publish)).toMatchObject({ published: 0 });
  });

  it('the drain passes over the messages for excepted targets, by exchange, routing key and size', async () => {
    const key = 'hqrelay.webhooks';
    const put = (text: string, exchange: string, routingKey: string) =>
      insertOutbox(app, { ...message(text), exchange, routingKey });
    await put('another exchange', 'hqrelay.delay.1h', key);
    await put('another key', 'hqrelay.work', 'hqrelay.retries');
    await put('small', 'hqrelay.work', key);
    await put('large message', 'hqrelay.work', key);
    const except = [
      { exchange: 'hqrelay.delay.1h', routingKey: key, isLarge: true },
      { exchange: 'hqrelay.work', routingKey: key, isLarge: false },
    ];
    const handed: string[] = [];
    const publish = async (row: { message: Buffer }) => handed.push(row.message.toString()) > 0;
    const options = { limit: 2, smallBytesMax: 'small'.length, except };
    expect(await drainOutbox(app, options, publish)).toEqual({ tried: 2, published: 2 });
    expect(handed).toEqual(['another key', 'large message']);
    expect(await texts()).toEqual(['another exchange', 'small']);
  });

  it('the drain publishes no more bytes at once than its bound', async () => {
    const rows = Array.from({ length: 8 }, (_, index) => ({
      ...message(''),
      message: Buffer.alloc(3 << 20, index),
    }));
    for (const row of rows) await insertOutbox(app, row);
    const handed: string[] = [];
    const publish = async ({ id }: { id: string }) => handed.push(id) > 0;
    expect(await drainOutbox(app, atMost(500), publish)).toMatchObject({ published: 6 });
    expect(await drainOutbox(app, atMost(500), publish)).toMatchObject({ published: 2 });
    expect(handed).toEqual(rows.map(({ id }) => id));
  });

  it('messages that the drain could not publish stay in the outbox', async () => {
    for (const text of ['1', '2', '3']) await insertOutbox(app, message(text));
    expect(await drainOutbox(app, atMost(10), async (row) => row.message.toString() === '2')).toMatchObject({
      published: 1,
    });
    expect(await texts()).toEqual(['1', '3']);
  });

  it('two inserts of one message are one row', async () => {
    const row = message('duplicate');
    await Promise.all([insertOutbox(app, row), insertOutbox(app, row)]);
    expect(await texts()).toEqual(['duplicate']);
  });

  it('two workers do not drain the outbox at the same time', async () => {
    for (const text of ['1', '2', '3']) await insertOutbox(app, message(text));
    const published: string[] = [];
    const publish = async (row: { message: Buffer }) => {
      if (published.length === 0)
        expect(await drainOutbox(app, atMost(10), publish)).toMatchObject({ published: 0 });
      return published.push(row.message.toString()) > 0;
    };
    expect(await drainOutbox(app, atMost(10), publish)).toMatchObject({ published: 3 });
    expect(published.toSorted((a, b) => a.localeCompare(b))).toEqual(['1', '2', '3']);
  });

  it('a message that is inserted again while its row is being drained stays in the outbox', async () => {
    const row = message('the same publication');
    await insertOutbox(app, row);
    let again: Promise<void> | undefined;
    await drainOutbox(app, atMost(10), async () => {
      // The message is published, a worker takes it, and its next publish fails.
      again = insertOutbox(app, row);
      await doneOrWaiting(world.sql, again);
      return true;
    });
    await again;
    expect(await texts()).toEqual(['the same publication']);
  });

  it('every row stays in the outbox when the connection to Postgres breaks during a publish, and the process survives', async () => {
    await insertOutbox(app, message('1'));
    const drain = drainOutbox(app, atMost(10), async () => {
      await world.sql.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity
         where datname = current_database() and usename <> current_user and state = 'idle in transaction'`,
      );
      return true;
    });
    await expect(drain).rejects.toThrow();
    expect(await texts()).toEqual(['1']);
  });
});
