import { countHeld, holdDelivery, releaseHeld, type HeldDelivery } from '@hqrelay/db/queries/held-deliveries';
import { newId } from '@hqrelay/domain/ids';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { doneOrWaiting } from './done-or-waiting.ts';

let world: World;
let app: pg.Pool;
let endpointId: string;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  app = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  app.on('error', () => {});
});

afterAll(async () => {
  await app.end();
  await world.close();
});

beforeEach(async () => {
  const project = await seedProject(world);
  ({ id: endpointId } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' }));
});

afterEach(() => world.sql.query('delete from held_deliveries'));

const now = Date.now();

function held(changes: Partial<HeldDelivery> = {}): HeldDelivery {
  return {
    deliveryId: newId(),
    webhookLogId: newId(),
    endpointId,
    orderingKey: null,
    reason: 'delay',
    dueAt: now,
    queue: 'hqrelay.retries',
    message: Buffer.from('message'),
    ...changes,
  };
}

async function released(options: { at?: number; limit?: number } = {}): Promise<string[]> {
  const ids: string[] = [];
  await releaseHeld(app, { now: options.at ?? now, limit: options.limit ?? 100 }, async ({ deliveryId }) => {
    ids.push(deliveryId);
    return true;
  });
  return ids;
}

async function heldIds(): Promise<string[]> {
  const { rows } = await app.query<{ delivery_id: string }>('select delivery_id from held_deliveries');
  return rows.map((row) => row.delivery_id);
}

describe('a held delivery', () => {
  it('is released with its message when its time has come, and not a millisecond before', async () => {
    const delivery = held({ message: Buffer.from([0, 1, 255]), queue: 'hqrelay.replays' });
    await holdDelivery(app, delivery, now);
    expect(await released({ at: now - 1 })).toEqual([]);

    const handed: unknown[] = [];
    const count = await releaseHeld(app, { now, limit: 10 }, async (row) => {
      handed.push(row);
      return true;
    });

    expect(count).toBe(1);
    expect(handed).toEqual([
      { deliveryId: delivery.deliveryId, queue: 'hqrelay.replays', message: Buffer.from([0, 1, 255]) },
    ]);
    expect(await heldIds()).toEqual([]);
  });

  it('goes before those that are due later, a limited number at a time', async () => {
    const deliveries = [5, 3, 1, 4, 2].map((ago) => held({ dueAt: now - ago * 1_000 }));
    for (const delivery of deliveries) await holdDelivery(app, delivery, now);
    const oldestFirst = deliveries
      .toSorted((a, b) => a.dueAt - b.dueAt)
      .map((delivery) => delivery.deliveryId);
    expect(await released({ limit: 2 })).toEqual(oldestFirst.slice(0, 2));
    expect(await released()).toEqual(oldestFirst.slice(2));
  });

  it('stays when it could not be published', async () => {
    const [first, second] = [held({ dueAt: now - 1 }), held()];
    await holdDelivery(app, first, now);
    await holdDelivery(app, second, now);
    const count = await releaseHeld(
      app,
      { now, limit: 10 },
      async ({ deliveryId }) => deliveryId === second.deliveryId,
    );
    expect(count).toBe(1);
    expect(await heldIds()).toEqual([first.deliveryId]);
  });

  it.each(['paused', 'disabled'] as const)(
    'that waits for its endpoint (%s) waits until that is enabled and not paused, whatever its time',
    async (reason) => {
      await holdDelivery(app, held({ reason, dueAt: now + 3_600_000 }), now);
      await app.query('update endpoints set paused = true, enabled = false where id = $1', [endpointId]);
      expect(await released({ at: now + 7_200_000 })).toEqual([]);
      await app.query('update endpoints set enabled = true where id = $1', [endpointId]);
      expect(await released({ at: now + 7_200_000 })).toEqual([]);
      await app.query('update endpoints set paused = false where id = $1', [endpointId]);
      expect(await released()).toHaveLength(1);
    },
  );

  it('that waits for its place in an order, or for a breaker, is not released by time', async () => {
    await holdDelivery(app, held({ reason: 'order', dueAt: 0 }), now);
    await holdDelivery(app, held({ reason: 'breaker', dueAt: 0 }), now);
    expect(await released()).toEqual([]);
    expect(await countHeld(app)).toEqual(
      new Map([
        ['order', 1],
        ['breaker', 1],
      ]),
    );
  });

  it('is taken by one of several workers at the same time', async () => {
    for (let index = 0; index < 20; index += 1) await holdDelivery(app, held(), now);
    const taken = await Promise.all([
      released({ limit: 10 }),
      released({ limit: 10 }),
      released({ limit: 10 }),
    ]);
    expect(new Set(taken.flat()).size).toBe(taken.flat().length);
    expect([...taken.flat(), ...(await released())]).toHaveLength(20);
  });

  it('held twice is one row', async () => {
    const delivery = held();
    await Promise.all([holdDelivery(app, delivery, now), holdDelivery(app, delivery, now)]);
    expect(await heldIds()).toEqual([delivery.deliveryId]);
  });

  it('that is held again before its release is committed stays held: its next wait is not forgotten with the last', async () => {
    const delivery = held();
    await holdDelivery(app, delivery, now);
    let again: Promise<void> | undefined;
    await releaseHeld(app, { now, limit: 10 }, async () => {
      // The worker that got the message is quicker than the release: it attempts, fails, and has a longer wait to hold.
      again = holdDelivery(app, { ...delivery, dueAt: now + 7_200_000, message: Buffer.from('next') }, now);
      await doneOrWaiting(world.sql, again);
      return true;
    });
    await again;

    const { rows } = await app.query('select message, due_at from held_deliveries');
    expect(rows).toEqual([{ message: Buffer.from('next'), due_at: new Date(now + 7_200_000) }]);
  });

  it('stays when the connection to Postgres breaks while it is published, and the process goes on', async () => {
    const delivery = held();
    await holdDelivery(app, delivery, now);
    const release = releaseHeld(app, { now, limit: 10 }, async () => {
      await world.sql.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity
         where datname = current_database() and usename <> current_user and state = 'idle in transaction'`,
      );
      return true;
    });
    await expect(release).rejects.toThrow();
    expect(await heldIds()).toEqual([delivery.deliveryId]);
  });
});
