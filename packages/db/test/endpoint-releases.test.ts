import {
  listHoldingEndpoints,
  releaseOfEndpoint,
  type ReleaseOptions,
} from '../src/queries/endpoint-releases.ts';
import { holdDeliveries, type HoldReason } from '../src/queries/held-deliveries.ts';
import { newId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint, seedProject } from '@hqrelay/testing/seed';
import { beforeEach, describe, expect, it } from 'vitest';
import { openWorld } from './open-world.ts';

const { world, app } = await openWorld();
let endpointId: string;

beforeEach(async () => {
  await world.sql.query('delete from held_deliveries');
  const project = await seedProject(world);
  ({ id: endpointId } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' }));
});

const t0 = Date.now();

/** One delivery for each of `ages`, the age of its webhook in seconds. The message contains the age. */
async function hold(reason: HoldReason, ages: readonly number[], dueAt = 0, queue = 'hqrelay.webhooks') {
  const deliveries = ages.map((age) => ({
    deliveryId: freshId(),
    webhookLogId: newId(t0 - age * 1_000),
    endpointId,
    attemptNum: 1,
    orderingKey: null,
    reason,
    dueAt,
    queue,
    message: Buffer.from(String(age)),
  }));
  await holdDeliveries(app, deliveries, t0);
}

const ages = (count: number) => Array.from({ length: count }, (_, index) => count - index);

/** The ages of the released deliveries, in the order of release. */
async function released(changes: Partial<ReleaseOptions> = {}): Promise<number[]> {
  const releasedAges: number[] = [];
  await releaseOfEndpoint(
    app,
    {
      endpointId,
      releaseRate: 100,
      now: t0,
      isProbe: false,
      laneOf: (queue) => (queue === 'hqrelay.replays' ? 'replays' : 'retries'),
      breakerRoom: { retries: 1_000, replays: 0 },
      breakerEveryMs: 400,
      limit: 1_000,
      ...changes,
    },
    async ({ message }) => {
      releasedAges.push(Number(message));
      return true;
    },
  );
  return releasedAges;
}

const holding = async () => (await listHoldingEndpoints(app)).map((each) => each.endpointId);

describe('an endpoint that holds deliveries', () => {
  it.each(['paused', 'disabled', 'breaker'] as const)(
    'an endpoint with deliveries held for %s is found when it is enabled and not paused',
    async (reason) => {
      await hold(reason, [1, 2, 3]);
      await app.query('update endpoints set paused = true, enabled = false where id = $1', [endpointId]);
      expect(await holding()).toEqual([]);
      await app.query('update endpoints set enabled = true where id = $1', [endpointId]);
      expect(await holding()).toEqual([]);
      await app.query('update endpoints set paused = false where id = $1', [endpointId]);
      expect(await holding()).toEqual([endpointId]);
    },
  );

  it('each endpoint with releasable deliveries is found once, and none for deliveries that wait for a time', async () => {
    const first = endpointId;
    await hold('paused', [1, 2]);
    await hold('breaker', [3]);
    const project = await seedProject(world);
    ({ id: endpointId } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' }));
    const second = endpointId;
    await hold('breaker', [1, 2, 3]);
    ({ id: endpointId } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/' }));
    await hold('delay', [1, 2, 3]);
    expect((await holding()).toSorted()).toEqual([first, second].toSorted());
  });
});

describe('deliveries held while their endpoint was paused', () => {
  it('deliveries held for a pause are released at the rate of the endpoint, the oldest webhook first', async () => {
    await hold('paused', ages(500).toReversed());
    const releasedAges = [...(await released())];
    expect(releasedAges).toEqual([500]);
    for (let tick = 1; tick <= 8; tick += 1) releasedAges.push(...(await released({ now: t0 + tick * 500 })));
    expect(releasedAges).toEqual(ages(500).slice(0, 401));
  });

  it('several workers together release at one rate', async () => {
    await hold('paused', ages(500));
    await released();
    const now = t0 + 1_000;
    const taken = await Promise.all([released({ now }), released({ now }), released({ now })]);
    expect(taken.flat().toSorted((a, b) => b - a)).toEqual(ages(500).slice(1, 101));
  });

  it('after a long time without workers the release makes up for two seconds at most', async () => {
    await hold('paused', ages(500));
    await released();
    expect(await released({ now: t0 + 3_600_000 })).toHaveLength(201);
  });

  it('a delivery is not released before the time of its next attempt', async () => {
    await hold('paused', [2], t0 + 60_000);
    await hold('paused', [1]);
    expect(await released()).toEqual([1]);
    expect(await released({ now: t0 + 60_000 })).toEqual([2]);
  });
});

describe('deliveries held for their breaker', () => {
  it('deliveries held for a breaker are released while slots are free, and again after the interval', async () => {
    await hold('breaker', ages(30));
    expect(await released({ breakerRoom: { retries: 10, replays: 0 } })).toEqual(ages(30).slice(0, 10));
    expect(await released({ breakerRoom: { retries: 10, replays: 0 }, now: t0 + 399 })).toEqual([]);
    expect(await released({ breakerRoom: { retries: 10, replays: 0 }, now: t0 + 400 })).toEqual(
      ages(30).slice(10, 20),
    );
    expect(await released({ breakerRoom: { retries: 0, replays: 0 }, now: t0 + 800 })).toEqual([]);
  });

  it('deliveries held for a breaker are released into each lane while that lane has free slots', async () => {
    await hold('breaker', [4, 2], 0, 'hqrelay.replays');
    await hold('breaker', [3, 1]);
    expect(await released({ breakerRoom: { retries: 2, replays: 1 } })).toEqual([4, 3]);
    const later = { now: t0 + 400, breakerRoom: { retries: 2, replays: 0 } };
    expect(await released(later)).toEqual([1]);
  });

  it('a delivery is released alone while its endpoint is probed, for every reason it is held', async () => {
    await hold('paused', [3, 2]);
    await hold('breaker', [1]);
    const probe = { isProbe: true, breakerRoom: { retries: 1, replays: 1 }, breakerEveryMs: 5_000 };
    expect(await released(probe)).toEqual([3]);
    expect(await released({ ...probe, now: t0 + 4_999 })).toEqual([]);
    expect(await released({ ...probe, now: t0 + 5_000 })).toEqual([2]);
  });
});
