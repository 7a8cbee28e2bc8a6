import { freshId } from '@hqrelay/testing/fresh-id';
import { countHeld, holdDeliveries, releaseDue, type HeldDelivery } from '../src/queries/held-deliveries.ts';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';
import { doneOrWaiting } from './done-or-waiting.ts';

const { world, app } = await openWorld();
let endpointId: string;

beforeEach(async () => {
  const project = await seedProject(world);
  ({ id: endpointId } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' }));
});

afterEach(() => world.sql.query('delete from held_deliveries'));

const now = Date.now();

function held(changes: Partial<HeldDelivery> = {}): HeldDelivery {
  const deliveryId = freshId();
  return {
    deliveryId,
    webhookLogId: freshId(),
    endpointId,
    attemptNum: 1,
    orderingKey: null,
    reason: 'delay',
    dueAt: now,
    queue: 'hqrelay.retries',
    message: Buffer.from(deliveryId),
    ...changes,
  };
}

const hold = (...deliveries: HeldDelivery[]) => holdDeliveries(app, deliveries, now);

async function heldAttempt(deliveryId: string): Promise<unknown> {
  const sql = 'select attempt_num, message from held_deliveries where delivery_id = $1';
  const { rows } = await app.query<{ attempt_num: number; message: Buffer }>(sql, [deliveryId]);
  return rows.map((row) => [row.attempt_num, row.message.toString()]);
}

async function released(options: { at?: number; limit?: number } = {}): Promise<string[]> {
  const ids: string[] = [];
  await releaseDue(app, { now: options.at ?? now, limit: options.limit ?? 100 }, async ({ message }) => {
    ids.push(message.toString());
    return true;
  });
  return ids;
}

async function heldIds(): Promise<string[]> {
  const { rows } = await app.query<{ delivery_id: string }>('select delivery_id from held_deliveries');
  return rows.map((row) => row.delivery_id);
}

describe('a held delivery', () => {
  it('a held delivery is not replaced by a late duplicate of an earlier attempt', async () => {
    const first = held({ message: Buffer.from('first') });
    const { deliveryId } = first;
    const second = held({ deliveryId, attemptNum: 2, message: Buffer.from('second') });
    await hold(second);
    await hold(first);
    expect(await heldAttempt(deliveryId)).toEqual([[2, 'second']]);
    const third = held({ deliveryId, attemptNum: 3, message: Buffer.from('third') });
    await hold(third, first);
    expect(await heldAttempt(deliveryId)).toEqual([[3, 'third']]);
  });

  it('a held delivery is replaced by a duplicate of the same attempt only where that duplicate has to resume', async () => {
    const plain = held({ message: Buffer.from('plain') });
    const { deliveryId } = plain;
    const resumes = held({ deliveryId, message: Buffer.from('resumes'), replacesSameAttempt: true });
    await hold(plain);
    await hold(resumes);
    await hold(plain);
    expect(await heldAttempt(deliveryId)).toEqual([[1, 'resumes']]);
    await hold(
      resumes,
      { ...plain, attemptNum: 2 },
      { ...resumes, attemptNum: 2 },
      { ...plain, attemptNum: 2 },
    );
    expect(await heldAttempt(deliveryId)).toEqual([[2, 'resumes']]);
  });

  it('a held delivery is released with its message when it is due, and not a millisecond before', async () => {
    const delivery = held({ message: Buffer.from([0, 1, 255]), queue: 'hqrelay.replays' });
    await hold(delivery);
    expect(await released({ at: now - 1 })).toEqual([]);

    const handed: unknown[] = [];
    const count = await releaseDue(app, { now, limit: 10 }, async (row) => {
      handed.push(row);
      return true;
    });

    expect(count).toBe(1);
    expect(handed).toEqual([{ queue: 'hqrelay.replays', message: Buffer.from([0, 1, 255]) }]);
    expect(await heldIds()).toEqual([]);
  });

  it('held deliveries are released in the order in which they are due, a limited number at a time', async () => {
    const deliveries = [5, 3, 1, 4, 2].map((ago) => held({ dueAt: now - ago * 1_000 }));
    for (const delivery of deliveries) await hold(delivery);
    const oldestFirst = deliveries
      .toSorted((a, b) => a.dueAt - b.dueAt)
      .map((delivery) => delivery.deliveryId);
    expect(await released({ limit: 2 })).toEqual(oldestFirst.slice(0, 2));
    expect(await released()).toEqual(oldestFirst.slice(2));
  });

  it('a held delivery stays when it could not be published', async () => {
    const [first, second] = [held({ dueAt: now - 1 }), held()];
    await hold(first);
    await hold(second);
    const count = await releaseDue(
      app,
      { now, limit: 10 },
      async ({ message }) => message.toString() === second.deliveryId,
    );
    expect(count).toBe(1);
    expect(await heldIds()).toEqual([first.deliveryId]);
  });

  it('a delivery that is held for another reason than a delay is not released by time', async () => {
    const reasons = ['order', 'paused', 'disabled', 'breaker'] as const;
    await hold(...reasons.map((reason) => held({ reason, dueAt: 0 })));
    expect(await released()).toEqual([]);
    expect(await countHeld(app)).toEqual(new Map(reasons.map((reason) => [reason, 1])));
  });

  it('few held deliveries are published at a time where messages are large', async () => {
    const message = Buffer.alloc(6 << 20);
    await hold(...[1, 2, 3, 4].map(() => held({ message })));
    const counts: number[] = [];
    while (counts.at(-1) !== 0) counts.push(await releaseDue(app, { now, limit: 100 }, async () => true));
    expect(counts).toEqual([2, 2, 0]);
  });

  it('of several concurrent workers one releases a held delivery', async () => {
    for (let index = 0; index < 20; index += 1) await hold(held());
    const taken = await Promise.all([
      released({ limit: 10 }),
      released({ limit: 10 }),
      released({ limit: 10 }),
    ]);
    expect(new Set(taken.flat()).size).toBe(taken.flat().length);
    expect([...taken.flat(), ...(await released())]).toHaveLength(20);
  });

  it('a delivery that is held twice is one row', async () => {
    const delivery = held();
    await Promise.all([hold(delivery, delivery), hold(delivery)]);
    expect(await heldIds()).toEqual([delivery.deliveryId]);
  });

  it('a delivery that is held again before its release is committed stays held', async () => {
    const delivery = held();
    await hold(delivery);
    let again: Promise<void> | undefined;
    await releaseDue(app, { now, limit: 10 }, async () => {
      // The worker that got the message is quicker than the release: it attempts, fails, and has a longer wait to hold.
      again = hold({ ...delivery, dueAt: now + 7_200_000, message: Buffer.from('next') });
      await doneOrWaiting(world.sql, again);
      return true;
    });
    await again;

    const { rows } = await app.query('select message, due_at from held_deliveries');
    expect(rows).toEqual([{ message: Buffer.from('next'), due_at: new Date(now + 7_200_000) }]);
  });

  it('a held delivery stays when the connection to Postgres breaks while it is published, and the process survives', async () => {
    const delivery = held();
    await hold(delivery);
    const release = releaseDue(app, { now, limit: 10 }, async () => {
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
