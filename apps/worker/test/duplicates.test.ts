import { deliveryId } from '@hqrelay/domain/ids';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dispatch } from '../src/delivery/dispatch.ts';
import type { Entrance } from '../src/endpoint/endpoint-gate.ts';
import { nextAttempts, recordElsewhere, seedWebhook } from './duplicate-messages.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

const hourMs = 3_600_000;

describe('a redelivered message', () => {
  it('a redelivered message whose attempt is recorded as delivered is acknowledged without a request', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('a redelivered message is not posted when another worker records its attempt a moment later', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    // It waits three seconds: by then a slow machine too has recorded the attempt.
    world.deps.random = () => 9;
    onTestFinished(() => void (world.deps.random = () => 0));
    const redelivered = world.redeliver(content);
    await recordElsewhere(world, content);
    expect(await redelivered).toBe('ack');
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('a redelivered message is not posted when its attempt is recorded while it waits for a slot', async () => {
    const { id, endpoint, endpointId, content } = await seedWebhook(world, '1h');
    world.fleet.size = 256;
    const pass = await world.entrance.enter(endpointId, 1_000);
    if (typeof pass === 'string') throw new Error(pass);
    const entrance: Entrance = {
      enter: async (...args) => {
        const entering = world.entrance.enter(...args);
        await recordElsewhere(world, content);
        pass.leave('none');
        return entering;
      },
    };
    expect(await dispatch(world.deps, { content, redelivered: true, entrance, isLive: true })).toBe('ack');
    world.fleet.size = 1;
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
    // Its own slot is free again.
    const room = world.gate.room(endpointId);
    expect(room.kind === 'room' && room.deliveriesInto('hqrelay.webhooks')).toBe(216);
  });

  it('a redelivered message waits for its history during a short stall of Postgres, and is not posted', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    world.postgres.markDown(new Error('a stall'));
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
  });

  it('a redelivered message whose failed attempt is recorded resumes with the next attempt', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    const [attempt] = await world.waitForAttempts(id, 1);
    await waitFor('the next attempt', () => nextAttempts(world, id).length === 1);

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toHaveLength(1);
    expect(world.publishedOf(id).map((each) => [each.attemptNum, each.notBefore])).toEqual([
      [2, attempt!.next_attempt_at!.getTime()],
      [2, attempt!.next_attempt_at!.getTime()],
    ]);
  });

  it('a redelivered message of an attempt before the last recorded one is acknowledged with no follow-up', async () => {
    const { id, endpoint, content, attempt } = await seedWebhook(world, '1h,1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await world.send(attempt({ attemptNum: 2, lane: 'retry' }), 'hqrelay.retries');
    await world.waitForAttempts(id, 2);
    await waitFor('both next attempts', () => nextAttempts(world, id).length === 2);

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(2);
    expect(nextAttempts(world, id)).toHaveLength(2);
  });

  it('a redelivered message whose attempt has no row is posted', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
  });

  it('a redelivered message whose last attempt is recorded is a dead letter again', async () => {
    const { id, endpointId, content, attempt, endpoint } = await seedWebhook(world, '1s');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 2);
    const ofDelivery = deliveryId(id, endpointId);
    await world.waitForDeadLetter(ofDelivery);
    // As after a crash between the attempt's row and the dead letter.
    await world.sql.query('delete from dead_letters where id = $1', [ofDelivery]);
    expect(await world.redeliver(attempt({ attemptNum: 2, lane: 'retry' }))).toBe('ack');
    expect(endpoint.requests).toHaveLength(2);
    expect(await world.waitForDeadLetter(ofDelivery)).toMatchObject({
      kind: 'delivery',
      reason: expect.stringContaining('HTTP 500'),
    });
  });

  it('a redelivered message whose failed attempt is recorded resumes, also while its endpoint is paused', async () => {
    const { id, endpointId, endpoint, content, projectId } = await seedWebhook(world, '2h');
    endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 500 : 200 }));
    await world.send(content);
    await world.waitForHeld(id);
    const [first] = await world.attemptsOf(id);
    // As after a crash between the attempt's row and its follow-up.
    await world.sql.query('delete from held_deliveries');
    await world.changeEndpoint(projectId, endpointId, 'paused = true');

    expect(await world.redeliver(content)).toBe('ack');
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    world.clock.aheadMs = first!.next_attempt_at!.getTime() - Date.now() + 1_000;
    try {
      await world.releaseHeld();
      expect(await world.waitForAttempts(id, 2)).toMatchObject([
        { attempt_num: 1, status: 'failed' },
        { attempt_num: 2, status: 'delivered' },
      ]);
    } finally {
      world.clock.aheadMs = 0;
    }
  });

  it('a redelivered message that was held before its attempt was recorded resumes when it is released', async () => {
    const { id, endpointId, endpoint, content, projectId } = await seedWebhook(world, '1h');
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    expect(await world.redeliver(content)).toBe('ack');
    await world.waitForHeld(id);
    const nextAttemptAt = Date.now() + hourMs;
    // The worker that had the message lost the broker, recorded the attempt and then crashed.
    await recordElsewhere(world, content, { nextAttemptAt });
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    await world.releaseHeld();
    await waitFor('the next attempt', () => nextAttempts(world, id).some(([attemptNum]) => attemptNum === 2));
    expect(endpoint.requests).toHaveLength(0);
  });

  it('a redelivered message whose failed attempt is recorded resumes after its project was unavailable', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await waitFor('the next attempt', () => nextAttempts(world, id).length === 1);
    const { findProject } = world.deps;
    world.deps.findProject = () => ({ kind: 'unavailable' });
    try {
      expect(await world.redeliver(content)).toBe('ack');
    } finally {
      world.deps.findProject = findProject;
    }
    await waitFor(
      'the next attempt to be published again',
      () => nextAttempts(world, id).filter(([attemptNum]) => attemptNum === 2).length === 2,
    );
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('a redelivered message whose attempt has an early date', () => {
  it('a redelivered message whose attempt is dated two hours early by a slow clock is not posted', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    const nextAttemptAt = Date.now() + 30_000;
    await recordElsewhere(world, content, { behindMs: 2 * hourMs, nextAttemptAt });

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(0);
    expect(world.publishedOf(id)).toMatchObject([{ attemptNum: 2, notBefore: nextAttemptAt }]);
  });

  it('a redelivered message whose attempt is dated two days early is posted once, and resumes', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h');
    const nextAttemptAt = Date.now() + 30_000;
    await recordElsewhere(world, content, { behindMs: 48 * hourMs, nextAttemptAt });

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(1);
    expect(world.publishedOf(id)).toMatchObject([{ attemptNum: 2, notBefore: nextAttemptAt }]);
    expect(await world.attemptsOf(id)).toMatchObject([{ attempt_num: 1, status: 'failed' }]);
  });
});
