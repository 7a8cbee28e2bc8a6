import { holdDeliveries } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { seedEndpoint } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { EndpointBreakers } from '../src/endpoint/endpoint-breakers.ts';
import { inFlightPerEndpointMax } from '../src/endpoint/endpoint-gate.ts';
import { startSlowEndpoint } from './slow-endpoint.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

afterEach(async () => {
  world.clock.aheadMs = 0;
  world.clock.stoppedAt = undefined;
  world.fleet.size = 1;
  await world.sql.query('delete from held_deliveries');
  await world.sql.query('delete from endpoint_breakers');
});

async function sendMany(projectId: string, endpointId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => freshId());
  for (const id of ids) await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
  return ids;
}

/** Sends second attempts that are due. */
async function sendRetries(projectId: string, endpointId: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => {
    const id = freshId();
    const fields = { deliveryId: deliveryId(id, endpointId), endpointId, notBefore: world.now() };
    const delivery = { ...fields, attemptNum: 2, lane: 'retry' as const };
    return world.message(projectId, { id, endpointIds: [endpointId], delivery });
  });
  await Promise.all(messages.map((message) => world.send(message, 'hqrelay.retries')));
}

/** Holds first attempts as workers do that find no free slot. */
async function holdMany(projectId: string, endpointId: string, count: number): Promise<void> {
  const held = Array.from({ length: count }, () => {
    const id = freshId();
    const delivery = { deliveryId: deliveryId(id, endpointId), endpointId, attemptNum: 1, notBefore: 0 };
    const envelope = { id, endpointIds: [endpointId], delivery: { ...delivery, lane: 'live' as const } };
    return {
      ...delivery,
      webhookLogId: id,
      orderingKey: null,
      reason: 'breaker' as const,
      dueAt: 0,
      queue: 'hqrelay.webhooks',
      message: world.message(projectId, { ...envelope, mayBeDuplicate: 'done_if_recorded' }),
    };
  });
  await holdDeliveries(world.postgres.pool, held, world.now());
}

const breakerOf = async (endpointId: string) => {
  const { rows } = await world.sql.query('select * from endpoint_breakers where endpoint_id = $1', [
    endpointId,
  ]);
  return rows[0] as { state: string; failures: number; probe_at: Date } | undefined;
};

const heldFor = async (reason: string) => (await world.held()).filter((row) => row.reason === reason).length;

/** An endpoint whose breaker is open: it failed ten times within ten seconds. The clock stops, so that no probe is due by itself. */
async function openBreaker() {
  world.clock.stoppedAt = Date.now();
  const { projectId, endpoints } = await world.seed({ retry: '1h' });
  const { id: endpointId, endpoint } = endpoints[0]!;
  endpoint.answerWith({ statusCode: 503 });
  await sendMany(projectId, endpointId, 9);
  await waitFor('nine attempts', () => endpoint.requests.length === 9);
  await waitFor('nine failures in the row', async () => (await breakerOf(endpointId))?.failures === 9);
  world.clock.aheadMs += 11_000;
  await sendMany(projectId, endpointId, 1);
  await waitFor('the breaker to open', async () => (await breakerOf(endpointId))?.state === 'open');
  await world.gate.breakers.refresh();
  return { projectId, endpointId, endpoint };
}

describe('an endpoint whose breaker is open', () => {
  it('an endpoint whose breaker is open gets no requests: its deliveries are held and use up no attempt', async () => {
    const { projectId, endpointId, endpoint } = await openBreaker();
    const ids = await sendMany(projectId, endpointId, 50);
    await waitFor('all to be held', async () => (await heldFor('breaker')) === 50);
    expect(endpoint.requests).toHaveLength(10);
    expect(await world.attemptsOf(ids[0]!)).toEqual([]);
    // Holding publishes nothing.
    expect(world.publishedOf(ids[0]!)).toEqual([]);
    expect(await world.releaseHeld()).toBe(0);
    expect(world.logs).toContainEqual(
      expect.objectContaining({ msg: 'endpoint.breaker', endpointId, state: 'open' }),
    );
  });

  it('an open breaker lets one delivery probe after its interval, and the next after twice the interval', async () => {
    const { projectId, endpointId, endpoint } = await openBreaker();
    await sendMany(projectId, endpointId, 20);
    await waitFor('all to be held', async () => (await heldFor('breaker')) === 20);
    world.clock.aheadMs += 5_001;
    // Live webhooks compete with the released delivery for the probe.
    await sendMany(projectId, endpointId, 20);
    await world.releaseHeld();
    await waitFor('the probe', () => endpoint.requests.length === 11);
    await waitFor('the others to be held', async () => (await heldFor('breaker')) === 39);
    await waitFor('the failed probe in the row', async () => (await breakerOf(endpointId))?.state === 'open');
    const interval = (await breakerOf(endpointId))!.probe_at.getTime() - world.now();
    expect(interval).toBeGreaterThan(5_000);
    expect(interval).toBeLessThanOrEqual(10_000);
    await world.releaseHeld();
    expect(endpoint.requests).toHaveLength(11);
  });

  it('an endpoint whose breaker was open gets every held delivery when it answers again', async () => {
    const { projectId, endpointId, endpoint } = await openBreaker();
    const ids = await sendMany(projectId, endpointId, 100);
    await waitFor('all to be held', async () => (await heldFor('breaker')) === 100);
    endpoint.answerWith({ statusCode: 200 });
    world.clock.aheadMs += 5_001;
    await waitFor('everything to arrive', async () => {
      await world.releaseHeld();
      world.clock.aheadMs += 400;
      return (await world.held()).every(({ reason }) => reason === 'delay');
    });
    for (const id of ids)
      expect(await world.waitForAttempts(id, 1)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
    await waitFor('the log line', () =>
      world.logs.some((line) => line.endpointId === endpointId && line['state'] === 'closed'),
    );
  });

  it('an open breaker lets one delivery of one worker probe, however many are due', async () => {
    const { endpointId } = await openBreaker();
    world.clock.aheadMs += 5_001;
    const workers = [1, 2, 3, 4].map(
      () =>
        new EndpointBreakers({
          postgres: world.postgres,
          now: world.now,
          onChange: () => {},
          onError: (error) => world.logger.error({ err: error }, 'breaker.not_stored'),
        }),
    );
    await Promise.all(workers.map((each) => each.refresh()));
    const tries = workers.flatMap((each) => Array.from({ length: 25 }, () => each));
    const claims = await Promise.all(tries.map((each) => each.claimProbe(endpointId, 10_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('an open breaker does not change the deliveries of another endpoint', async () => {
    await openBreaker();
    const { projectId, endpoints } = await world.seed({});
    const { id, endpoint } = endpoints[0]!;
    await sendMany(projectId, id, 5);
    await waitFor('all to arrive', () => endpoint.requests.length === 5);
  });
});

describe('an endpoint that fails now and then', () => {
  it('an endpoint that succeeds between its failures keeps its breaker closed', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1h' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith((_request, count) => ({ statusCode: count % 5 === 0 ? 200 : 500 }));
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await sendMany(projectId, endpointId, 5);
      await waitFor('the round', () => endpoint.requests.length === (rounds + 1) * 5);
      world.clock.aheadMs += 11_000;
    }
    expect(world.gate.breakers.stateOf(endpointId)).toBe('closed');
  });

  it('an endpoint that refuses requests with a 4xx keeps its breaker closed', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1h' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith({ statusCode: 422 });
    const ids = await sendMany(projectId, endpointId, 12);
    world.clock.aheadMs += 11_000;
    ids.push(...(await sendMany(projectId, endpointId, 12)));
    await waitFor('all attempts', () => endpoint.requests.length === 24);
    expect(await breakerOf(endpointId)).toBeUndefined();
  });
});

describe('an endpoint that answers slowly', () => {
  it('deliveries beyond the share of a slow endpoint are held, and released when there is room', async () => {
    world.fleet.size = 16;
    // Each of the five other lanes keeps one slot of the sixteen that this worker has.
    const share = inFlightPerEndpointMax / 16 - 5;
    const { projectId, endpoints } = await world.seed({ timeoutMs: 120_000 });
    const { id: endpointId, endpoint } = endpoints[0]!;
    let answer = () => {};
    endpoint.answerWith({ after: new Promise<void>((resolve) => (answer = resolve)) });
    const count = share + 44;
    await sendMany(projectId, endpointId, count);
    await waitFor('the rest to be held', async () => (await heldFor('breaker')) === count - share);
    await waitFor('the share', () => endpoint.requests.length >= share);
    expect(endpoint.requests).toHaveLength(share);
    // The slots that only retries may take: one at each of sixteen workers.
    expect(await world.releaseHeld()).toBe(16);
    // A slow answer is no failure.
    expect(await breakerOf(endpointId)).toBeUndefined();
    endpoint.answerWith({});
    answer();
    await waitFor('all to arrive', async () => {
      await world.releaseHeld();
      world.clock.aheadMs += 400;
      return endpoint.requests.length === count;
    });
  });

  it(
    'three slow endpoints leave slots in their lane, and the retry of another endpoint is posted',
    { timeout: 300_000 },
    async () => {
      const { projectId, endpoints } = await world.seed({});
      const { id: endpointId, endpoint } = endpoints[0]!;
      const slow = await Promise.all([1, 2, 3].map(() => startSlowEndpoint()));
      for (const { url } of slow) {
        const { id } = await seedEndpoint(world, projectId, { url, timeoutMs: 120_000 });
        await world.forget(projectId);
        await sendRetries(projectId, id, 250);
      }
      await waitFor('requests at all three', () => slow.every(({ waiting }) => waiting.length > 20));
      await sendRetries(projectId, endpointId, 1);
      await waitFor('the retry', () => endpoint.requests.length === 1);
      expect(slow.map(({ waiting }) => waiting.length).every((count) => count > 20)).toBe(true);
      for (const { answer } of slow) answer();
      await Promise.all(slow.map(({ close }) => close()));
    },
  );

  it('the room of slow endpoints is not given again to others while released deliveries wait for their turn', async () => {
    const { projectId, endpoints } = await world.seed({});
    const { id, endpoint } = endpoints[0]!;
    const slow = await Promise.all([1, 2].map(() => startSlowEndpoint()));
    for (const { url } of slow) {
      const seeded = await seedEndpoint(world, projectId, { url, timeoutMs: 120_000 });
      await holdMany(projectId, seeded.id, 600);
    }
    await world.forget(projectId);
    // After a new webhook, retries wait for their turn for five seconds.
    await sendMany(projectId, id, 1);
    await endpoint.waitForRequests(1);

    expect(await world.releaseHeld()).toBeGreaterThan(300);
    world.clock.aheadMs += 400;
    expect(await world.releaseHeld()).toBe(0);

    await world.sql.query('delete from held_deliveries');
    for (const { answer } of slow) answer();
    await Promise.all(slow.map(({ close }) => close()));
  });
});
