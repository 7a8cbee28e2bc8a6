import { countOutbox, drainOutbox, insertOutbox } from '../src/queries/outbox.ts';
import { newId } from '@hqrelay/domain/ids';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { doneOrWaiting } from './done-or-waiting.ts';

let world: World;
let app: pg.Pool;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  app = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  app.on('error', () => {});
});

afterAll(async () => {
  await app.end();
  await world.close();
});

afterEach(() => world.sql.query('delete from outbox'));

const message = (text: string, id = newId()) => ({
  id,
  exchange: 'hqrelay.work',
  routingKey: 'hqrelay.retries',
  message: Buffer.from(text),
});

async function texts(): Promise<string[]> {
  const { rows } = await app.query<{ message: Buffer }>('select message from outbox order by seq');
  return rows.map((row) => row.message.toString());
}

describe('the outbox', () => {
  it('hands out its messages whole and in the order they came, a limited number at a time', async () => {
    const rows = ['1', '2', '3'].map((text) => message(text));
    for (const row of rows) await insertOutbox(app, row);
    const handed: unknown[] = [];
    const publish = async (row: unknown) => handed.push(row) > 0;
    expect(await drainOutbox(app, 2, publish)).toBe(2);
    expect(await countOutbox(app)).toBe(1);
    expect(await drainOutbox(app, 2, publish)).toBe(1);
    expect(handed).toEqual(rows);
    expect(await drainOutbox(app, 2, publish)).toBe(0);
  });

  it('hands out no more at once than memory may hold', async () => {
    const rows = Array.from({ length: 8 }, (_, index) => ({
      ...message(''),
      message: Buffer.alloc(3 << 20, index),
    }));
    for (const row of rows) await insertOutbox(app, row);
    const handed: string[] = [];
    const publish = async ({ id }: { id: string }) => handed.push(id) > 0;
    expect(await drainOutbox(app, 500, publish)).toBe(6);
    expect(await drainOutbox(app, 500, publish)).toBe(2);
    expect(handed).toEqual(rows.map(({ id }) => id));
  });

  it('keeps what could not be published', async () => {
    for (const text of ['1', '2', '3']) await insertOutbox(app, message(text));
    expect(await drainOutbox(app, 10, async (row) => row.message.toString() === '2')).toBe(1);
    expect(await texts()).toEqual(['1', '3']);
  });

  it('keeps one of several copies of a message', async () => {
    const row = message('copy');
    await Promise.all([insertOutbox(app, row), insertOutbox(app, row)]);
    expect(await texts()).toEqual(['copy']);
  });

  it('is drained by one worker at a time', async () => {
    for (const text of ['1', '2', '3']) await insertOutbox(app, message(text));
    const published: string[] = [];
    const publish = async (row: { message: Buffer }) => {
      if (published.length === 0) expect(await drainOutbox(app, 10, publish)).toBe(0);
      return published.push(row.message.toString()) > 0;
    };
    expect(await drainOutbox(app, 10, publish)).toBe(3);
    expect(published.toSorted((a, b) => a.localeCompare(b))).toEqual(['1', '2', '3']);
  });

  it('keeps a message that comes again before the drain of the first is committed', async () => {
    const row = message('the same publication, once more');
    await insertOutbox(app, row);
    let again: Promise<void> | undefined;
    await drainOutbox(app, 10, async () => {
      // It was published, worked on, and could not be published the next time.
      again = insertOutbox(app, row);
      await doneOrWaiting(world.sql, again);
      return true;
    });
    await again;
    expect(await texts()).toEqual(['the same publication, once more']);
  });

  it('the outbox keeps every row when the connection to Postgres breaks while it publishes, and the process survives', async () => {
    await insertOutbox(app, message('1'));
    const drain = drainOutbox(app, 10, async () => {
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
