import { replayWebhook } from '@hqrelay/actions/replay/replay-webhook';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { recordWebhook } from '@hqrelay/testing/database/record-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { actor, decidingIn, seedWaiting as seedWaitingIn, valueOf } from './decided-deliveries.ts';
import { handle, nextAttempts, seedWebhook } from './duplicate-messages.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();
const { retryNow, cancel, stateOf } = decidingIn(world);
const seedWaiting = (retry: string) => seedWaitingIn(world, retry);

afterEach(async () => {
  world.clock.aheadMs = 0;
  await world.sql.query('delete from held_deliveries');
});

describe('a delivery that is retried now', () => {
  it('a waiting delivery is posted once, and its message from the delay queue is acknowledged without a request', async () => {
    const { id, endpoint, dueAt, delayed, ...seeded } = await seedWaiting('1h,1h');
    expect(valueOf(await retryNow(seeded.deliveryId))).toMatchObject({ state: 'held', heldReason: 'delay' });
    expect(await world.releaseHeld()).toBe(1);
    await world.waitForAttempts(id, 2);
    await waitFor('the third attempt to be scheduled', () =>
      nextAttempts(world, id).some(([num]) => num === 3),
    );

    world.clock.aheadMs = dueAt - Date.now() + 1_000;
    expect(await handle(world, delayed)).toBe('ack');
    expect(endpoint.requests).toHaveLength(2);
    expect(nextAttempts(world, id).filter(([attemptNum]) => attemptNum === 3)).toHaveLength(1);
  });

  it('a message from the delay queue is acknowledged without a request before the retry is made', async () => {
    const { id, endpoint, dueAt, delayed, ...seeded } = await seedWaiting('1h');
    valueOf(await retryNow(seeded.deliveryId));
    world.clock.aheadMs = dueAt - Date.now() + 1_000;
    expect(await handle(world, delayed)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    world.clock.aheadMs = 0;
    endpoint.answerWith({ statusCode: 200 });
    await world.releaseHeld();
    expect(await world.waitForAttempts(id, 2)).toMatchObject([{ status: 'failed' }, { status: 'delivered' }]);
    expect(endpoint.requests).toHaveLength(2);
  });

  it('a waiting delivery goes through the real delay queue after a retry without another request', async () => {
    const { id, endpoint, ...seeded } = await seedWaiting('10s,1h');
    valueOf(await retryNow(seeded.deliveryId));
    await world.releaseHeld();
    await world.waitForAttempts(id, 2);
    const queues = [...['1s', '2s', '5s', '10s'].map((rung) => `hqrelay.delay.${rung}`), 'hqrelay.retries'];
    await waitFor('the delayed message to be acknowledged', async () => {
      const depths = await Promise.all(queues.map((queue) => world.depthOf(queue)));
      return depths.every((depth) => depth === 0) && world.consumers.every((each) => each.inFlight === 0);
    });
    expect(endpoint.requests).toHaveLength(2);
  });

  it('a delivery that is asked for twice is posted once', async () => {
    const { id, endpoint, ...seeded } = await seedWaiting('1h');
    valueOf(await retryNow(seeded.deliveryId));
    valueOf(await retryNow(seeded.deliveryId));
    await world.releaseHeld();
    await world.waitForAttempts(id, 2);
    expect(await retryNow(seeded.deliveryId)).toMatchObject({ kind: 'refused', code: 'delivery.ended' });
    expect(await world.releaseHeld()).toBe(0);
    expect(endpoint.requests).toHaveLength(2);
  });

  it('a delivery that Postgres holds for hours is posted at once', async () => {
    const { id, endpoint, ...seeded } = await seedWaiting('5h,5h');
    expect(await world.releaseHeld()).toBe(0);
    valueOf(await retryNow(seeded.deliveryId));
    endpoint.answerWith({ statusCode: 200 });
    expect(await world.releaseHeld()).toBe(1);
    expect(await world.waitForAttempts(id, 2)).toMatchObject([
      { status: 'failed' },
      { status: 'delivered', lane: 'retry' },
    ]);
  });

  it('a delivery whose attempt is due is left alone, and a message that was lost is made again', async () => {
    const { id, endpoint, dueAt, ...seeded } = await seedWaiting('1h');
    const at = (now: number) => retryNow(seeded.deliveryId, now);
    expect(valueOf(await at(dueAt + 30_000))).toMatchObject({ state: 'waiting' });
    expect(await world.held()).toEqual([]);
    expect(valueOf(await at(dueAt + 180_000))).toMatchObject({ state: 'held' });
    world.clock.aheadMs = dueAt - Date.now() + 180_000;
    await world.releaseHeld();
    await world.waitForAttempts(id, 2);
    expect(endpoint.requests).toHaveLength(2);
  });

  it.each([
    ['paused', 'paused = true', 'delivery.endpoint_stopped'],
    ['disabled', "enabled = false, disabled_reason = 'test'", 'delivery.endpoint_stopped'],
    ['archived', 'enabled = false, archived_at = now()', 'endpoint.archived'],
  ])('a delivery of an endpoint that is %s is refused a retry', async (_how, changes, code) => {
    const { projectId, endpointId, ...seeded } = await seedWaiting('1h');
    await world.changeEndpoint(projectId, endpointId, changes);
    expect(await retryNow(seeded.deliveryId)).toMatchObject({ kind: 'refused', code });
    expect(await world.held()).toEqual([]);
  });
});

describe('a delivery that is cancelled', () => {
  it('a waiting delivery gets no further attempt, also from a message that is redelivered after a crash', async () => {
    const { id, endpoint, dueAt, delayed, content, ...seeded } = await seedWaiting('1h');
    expect(valueOf(await cancel(seeded.deliveryId))).toMatchObject({
      state: 'cancelled',
      nextAttemptAt: null,
    });
    world.clock.aheadMs = dueAt - Date.now() + 1_000;
    expect(await handle(world, delayed)).toBe('ack');
    expect(await world.redeliver(delayed)).toBe('ack');
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await stateOf(id)).toEqual({ state: 'cancelled', attempts: 1 });
    const { rows } = await world.sql.query('select actor, action, details from admin_log where target = $1', [
      seeded.deliveryId,
    ]);
    expect(rows).toMatchObject([
      {
        actor,
        action: 'delivery.cancel',
        details: { before: { state: 'waiting' }, after: { state: 'cancelled' }, attempts: 1 },
      },
    ]);
  });

  it.each(['paused', 'delay'])(
    'a delivery that is held (%s) is held no longer, and a message that a release has published ends',
    async (reason) => {
      const { id, endpoint, ...seeded } = await seedWaiting('5h');
      await world.sql.query('update held_deliveries set reason = $1', [reason]);
      const held = await world.sql.query<{ message: Buffer }>('select message from held_deliveries');
      valueOf(await cancel(seeded.deliveryId));
      expect(await world.held()).toEqual([]);
      world.clock.aheadMs = 6 * 3_600_000;
      expect(await handle(world, held.rows[0]!.message)).toBe('ack');
      expect(endpoint.requests).toHaveLength(1);
      expect(await stateOf(id)).toMatchObject({ state: 'cancelled' });
    },
  );

  it('a first attempt that waits in a queue is cancelled, and those of other webhooks of the project are made', async () => {
    const { id, projectId, endpointId, endpoint, content } = await seedWebhook(world, '1h');
    await recordWebhook(world.sql, { id, projectId, endpointIds: [endpointId] });
    // The worker has the configuration in memory from before the decision.
    const before = world.message(projectId, { id: freshId(), endpointIds: [endpointId] });
    expect(await handle(world, before)).toBe('ack');
    expect(valueOf(await cancel(deliveryId(id, endpointId)))).toMatchObject({ state: 'cancelled' });
    expect(await handle(world, content)).toBe('ack');
    const after = world.message(projectId, { id: freshId(), endpointIds: [endpointId] });
    expect(await handle(world, after)).toBe('ack');
    expect(endpoint.requests).toHaveLength(2);
    expect(await stateOf(id)).toEqual({ state: 'cancelled', attempts: 0 });
  });

  it('a worker asks Postgres before first attempts of a project for a day after one was cancelled, and then no longer', async () => {
    const { id, projectId, endpointId } = await seedWebhook(world, '1h');
    await recordWebhook(world.sql, { id, projectId, endpointIds: [endpointId] });
    const { readHistory } = world.deps;
    let asked = 0;
    world.deps.readHistory = (key) => {
      asked += 1;
      return readHistory(key);
    };
    try {
      const askedBy = async () => {
        const from = asked;
        await handle(world, world.message(projectId, { id: freshId(), endpointIds: [endpointId] }));
        return asked - from;
      };
      expect(await askedBy()).toBe(0);
      valueOf(await cancel(deliveryId(id, endpointId)));
      expect(await askedBy()).toBe(1);
      world.clock.aheadMs = 24 * 3_600_000 + 1_000;
      expect(await askedBy()).toBe(0);
    } finally {
      world.deps.readHistory = readHistory;
    }
  });

  it('a first attempt that a paused endpoint holds is cancelled', async () => {
    const { id, projectId, endpointId, endpoint, content } = await seedWebhook(world, '1h');
    await recordWebhook(world.sql, { id, projectId, endpointIds: [endpointId] });
    const ofDelivery = deliveryId(id, endpointId);
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    await world.send(content);
    await world.waitForHeld(id);
    valueOf(await cancel(ofDelivery));
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    expect(await world.releaseHeld()).toBe(0);
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(0);
  });

  it.each([
    [200, 'delivered', false],
    [500, 'cancelled', true],
  ])('an attempt in flight that is answered %i leaves the delivery %s', async (statusCode, state, isDead) => {
    const { id, endpoint, dueAt, delayed, ...seeded } = await seedWaiting('1h');
    let answer = () => {};
    endpoint.answerWith({ statusCode, after: new Promise<void>((resolve) => (answer = resolve)) });
    world.clock.aheadMs = dueAt - Date.now() + 1_000;
    const handled = handle(world, delayed);
    await waitFor('the request', () => endpoint.requests.length === 2);
    valueOf(await cancel(seeded.deliveryId));
    answer();
    expect(await handled).toBe('ack');
    await world.waitForAttempts(id, 2);
    expect(await stateOf(id)).toEqual({ state, attempts: 2 });
    if (!isDead) return;
    const letter = await world.waitForDeadLetter(seeded.deliveryId);
    expect((letter as unknown as { replayed_at: Date | null }).replayed_at).not.toBeNull();
  });

  it('a cancelled delivery is posted while Postgres is unavailable', async () => {
    const { endpoint, dueAt, delayed, ...seeded } = await seedWaiting('1h');
    valueOf(await cancel(seeded.deliveryId));
    world.clock.aheadMs = dueAt - Date.now() + 1_000;
    const { readHistory } = world.deps;
    world.deps.readHistory = () => Promise.resolve(undefined);
    try {
      await handle(world, delayed);
    } finally {
      world.deps.readHistory = readHistory;
    }
    expect(endpoint.requests).toHaveLength(2);
  });

  it('a cancelled delivery can be replayed, and its dead letter is closed', async () => {
    const { id, endpoint, ...seeded } = await seedWaiting('1s');
    await world.waitForAttempts(id, 2);
    await world.waitForDeadLetter(seeded.deliveryId);
    expect(valueOf(await cancel(seeded.deliveryId))).toMatchObject({ state: 'cancelled' });
    const { rows } = await world.sql.query('select replayed_at, replay_id from dead_letters where id = $1', [
      seeded.deliveryId,
    ]);
    expect(rows).toMatchObject([{ replayed_at: expect.any(Date), replay_id: null }]);
    endpoint.answerWith({ statusCode: 200 });
    valueOf(
      await replayWebhook(
        { pool: world.sql, actor },
        { webhookLogId: id, requestedBy: actor, now: Date.now() },
      ),
    );
    await world.releaseHeld();
    expect(await world.waitForAttempts(id, 3)).toMatchObject([
      { lane: 'live' },
      { lane: 'replay', status: 'delivered' },
      { lane: 'retry' },
    ]);
    expect(await stateOf(id)).toMatchObject({ state: 'cancelled' });
  });

  it('a delivery that is delivered is not cancelled, and one that is cancelled can be cancelled again', async () => {
    const seeded = await seedWaiting('1h');
    valueOf(await cancel(seeded.deliveryId));
    expect(valueOf(await cancel(seeded.deliveryId))).toMatchObject({ state: 'cancelled' });
    expect(await retryNow(seeded.deliveryId)).toMatchObject({ kind: 'refused', code: 'delivery.ended' });
    const log = await world.sql.query('select from admin_log where target = $1', [seeded.deliveryId]);
    expect(log.rowCount).toBe(1);

    const other = await seedWebhook(world, '1h');
    await recordWebhook(world.sql, {
      id: other.id,
      projectId: other.projectId,
      endpointIds: [other.endpointId],
    });
    await world.send(other.content);
    await world.waitForAttempts(other.id, 1);
    expect(await cancel(deliveryId(other.id, other.endpointId))).toMatchObject({ code: 'delivery.ended' });
  });
});
