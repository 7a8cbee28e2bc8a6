import { newId } from '@hqrelay/domain/ids';
import { startTcpProxy, type TcpProxy } from '@hqrelay/testing/network/tcp-proxy';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { inTransaction } from '../src/in-transaction.ts';
import { changeBreaker } from '../src/queries/endpoint-breakers.ts';
import { holdDeliveries, releaseDue } from '../src/queries/held-deliveries.ts';
import { drainOutbox, insertOutbox } from '../src/queries/outbox.ts';

let world: World;
let proxy: TcpProxy;
/** One worker, behind the proxy, and another. */
let silent: pg.Pool;
let other: pg.Pool;

beforeAll(async () => {
  world = await createWorld(inject('run'));
  proxy = await startTcpProxy(Number(new URL(world.databaseUrl).port));
  const proxied = new URL(world.databaseUrl);
  proxied.port = String(proxy.port);
  silent = new pg.Pool({ connectionString: proxied.href });
  other = new pg.Pool({ connectionString: world.databaseUrl });
  for (const pool of [silent, other]) pool.on('error', () => {});
});

afterAll(async () => {
  await proxy.close();
  // Its transactions never end, so neither does its pool.
  void silent.end();
  await other.end();
  await world.close();
});

afterEach(() => proxy.release());

const message = {
  exchange: 'hqrelay.work',
  routingKey: 'hqrelay.retries',
  message: Buffer.from('a message'),
};
const options = { limit: 10, smallBytesMax: 32_768 };
const never = new Promise<never>(() => {});

/** Starts `work`, which never ends, and resolves when it calls `reached`. */
async function until(work: (reached: () => void) => Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => void work(resolve).catch(() => {}));
}

describe('a client that falls silent in a transaction', () => {
  it('a worker that stops while it drains the outbox lets another worker drain it within seconds', async () => {
    await insertOutbox(other, { id: newId(), ...message });
    await until((reached) =>
      drainOutbox(silent, options, () => {
        reached();
        return never;
      }),
    );
    expect(await drainOutbox(other, options, async () => true)).toMatchObject({ published: 0 });
    await waitFor(
      'the other worker to drain',
      async () => (await drainOutbox(other, options, async () => true)).published > 0,
    );
  });

  it('a worker that is cut off while it drains the outbox lets another worker drain it within seconds', async () => {
    await insertOutbox(other, { id: newId(), ...message });
    await until((reached) =>
      drainOutbox(silent, options, async () => {
        proxy.blackHole();
        reached();
        return true;
      }),
    );
    expect(await drainOutbox(other, options, async () => true)).toMatchObject({ published: 0 });
    await waitFor(
      'the other worker to drain',
      async () => (await drainOutbox(other, options, async () => true)).published > 0,
    );
  });

  it('a worker that is frozen while it reads a large result loses its locks within seconds', async () => {
    await until((reached) =>
      inTransaction(silent, async (transaction) => {
        await transaction.query("select pg_advisory_xact_lock(hashtext('large'))");
        proxy.freeze();
        const reading = transaction.query("select repeat('x', 64 << 20)");
        reached();
        await reading;
      }),
    );
    await waitFor(
      'the lock',
      async () =>
        (
          await other.query<{ taken: boolean }>(
            "select pg_try_advisory_xact_lock(hashtext('large')) as taken",
          )
        ).rows[0]?.taken,
      { timeoutMs: 20_000 },
    );
  });

  it('a worker that stops while it releases held deliveries lets another worker release them within seconds', async () => {
    const now = Date.now();
    const held = {
      deliveryId: newId(),
      webhookLogId: newId(),
      endpointId: newId(),
      attemptNum: 2,
      orderingKey: null,
      reason: 'delay' as const,
      dueAt: now - 1_000,
      queue: 'hqrelay.retries',
      message: Buffer.from('a message'),
    };
    await holdDeliveries(other, [held], now);
    await until((reached) =>
      releaseDue(silent, { now, limit: 10 }, () => {
        reached();
        return never;
      }),
    );
    expect(await releaseDue(other, { now, limit: 10 }, async () => true)).toBe(0);
    await waitFor(
      'the other worker to release',
      async () => (await releaseDue(other, { now, limit: 10 }, async () => true)) > 0,
    );
  });

  it('a worker that is cut off while it changes a breaker lets another worker change it within seconds', async () => {
    const endpointId = newId();
    await until((reached) =>
      changeBreaker(silent, endpointId, (before) => {
        proxy.blackHole();
        reached();
        return before;
      }),
    );
    await waitFor('the other worker to change it', async () => {
      await changeBreaker(other, endpointId, (before) => before);
      return true;
    });
  });
});
