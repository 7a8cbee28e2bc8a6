import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { startTcpProxy, type TcpProxy } from '@hqrelay/testing/network/tcp-proxy';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { inTransaction } from '../src/in-transaction.ts';
import { changeBreaker } from '../src/queries/endpoint-breakers.ts';
import { holdDeliveries, releaseDue } from '../src/queries/held-deliveries.ts';
import { releaseOfEndpoint } from '../src/queries/endpoint-releases.ts';
import { drainOutbox, insertOutbox } from '../src/queries/outbox.ts';
import { putBackStranded } from '../src/queries/stranded-webhooks.ts';
import { appendAudit } from '../src/queries/append-audit.ts';
import { webhookRow } from './audit-rows.ts';

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

/** Another worker drains nothing at first, while the silent client has the row, and then drains it. */
async function expectOtherToDrainSoon(): Promise<void> {
  expect(await drainOutbox(other, options, async () => true)).toMatchObject({ published: 0 });
  await waitFor(
    'the other worker to drain',
    async () => (await drainOutbox(other, options, async () => true)).published > 0,
  );
}

describe('a client that falls silent in a transaction', () => {
  it('a worker that stops while it drains the outbox lets another worker drain it within seconds', async () => {
    await insertOutbox(other, { id: freshId(), ...message });
    await until((reached) =>
      drainOutbox(silent, options, () => {
        reached();
        return never;
      }),
    );
    await expectOtherToDrainSoon();
  });

  it('a worker that is cut off while it drains the outbox lets another worker drain it within seconds', async () => {
    await insertOutbox(other, { id: freshId(), ...message });
    await until((reached) =>
      drainOutbox(silent, options, async () => {
        proxy.blackHole();
        reached();
        return true;
      }),
    );
    await expectOtherToDrainSoon();
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
    );
  });

  it('a worker that stops while it releases held deliveries lets another worker release them within seconds', async () => {
    const now = Date.now();
    const held = {
      deliveryId: freshId(),
      webhookLogId: freshId(),
      endpointId: freshId(),
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
    const endpointId = freshId();
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

  it('a worker that stops while it releases the deliveries of one endpoint lets another worker release them within seconds', async () => {
    const now = Date.now();
    const endpointId = freshId();
    const held = {
      deliveryId: freshId(),
      webhookLogId: freshId(),
      endpointId,
      attemptNum: 1,
      orderingKey: null,
      reason: 'paused' as const,
      dueAt: now - 1_000,
      queue: 'hqrelay.webhooks',
      message: Buffer.from('a message'),
    };
    const options = {
      endpointId,
      releaseRate: 100,
      now,
      isProbe: false,
      laneOf: (queue: string) => queue,
      breakerRoom: {},
      breakerEveryMs: 0,
      limit: 10,
    };
    // The endpoint's row of `endpoint_releases` is there, as after any earlier release.
    expect(await releaseOfEndpoint(other, options, async () => true)).toBe(0);
    await holdDeliveries(other, [held], now);
    await until((reached) =>
      releaseOfEndpoint(silent, options, () => {
        reached();
        return never;
      }),
    );
    expect(await releaseOfEndpoint(other, options, async () => true)).toBe(0);
    await waitFor(
      'the other worker to release',
      async () => (await releaseOfEndpoint(other, options, async () => true)) > 0,
    );
  });

  it('a worker that is cut off while it puts stranded webhooks back lets another worker do it within seconds', async () => {
    const received = Date.now() - 60_000;
    const webhook = webhookRow({ id: newId(received) });
    await other.query('delete from outbox');
    const encode = () => ({
      exchange: 'hqrelay.work',
      routingKey: 'hqrelay.webhooks',
      message: Buffer.from('a message'),
    });
    // The row of `stranded_search` is there, as after any earlier search.
    await putBackStranded(other, { until: received, encode });
    await appendAudit(other, [webhook]);
    await until((reached) =>
      putBackStranded(silent, {
        until: received + 1,
        encode: () => {
          proxy.blackHole();
          reached();
          return encode();
        },
      }),
    );
    const putBack = () => putBackStranded(other, { until: received + 1, encode });
    expect(await putBack()).toEqual({ putBack: [], hasMore: false });
    const id = await waitFor('the other worker to put it back', async () => (await putBack()).putBack[0]);
    expect(id).toBe(webhook.log.id);
  });
});
