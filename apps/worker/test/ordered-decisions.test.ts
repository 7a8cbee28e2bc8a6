import type { ActionResult } from '@hqrelay/actions/action';
import { cancelDelivery } from '@hqrelay/actions/delivery/cancel-delivery';
import { retryDeliveryNow } from '@hqrelay/actions/delivery/retry-delivery-now';
import { replayWebhook } from '@hqrelay/actions/replay/replay-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { acceptingAt } from './ordered-webhooks.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();
const running = new AbortController().signal;
const deps = {
  pool: world.sql,
  actor: 'cli:test' as const,
  announceChange: (projectId: string) => world.forget(projectId),
};

const valueOf = <T>(result: ActionResult<T>): T => {
  if (result.kind === 'refused') throw new Error(`${result.code}: ${result.message}`);
  return result.value;
};
const cancel = async (deliveryId: string) =>
  valueOf(await cancelDelivery(deps, { deliveryId, now: Date.now() }));

const replay = async (webhookLogId: string, endpointId: string) => {
  const now = Date.now();
  valueOf(await replayWebhook(deps, { webhookLogId, endpointIds: [endpointId], requestedBy: 'test', now }));
  await world.releaseHeld();
};

/** Webhooks of one key at an endpoint that refuses the first of them; the others wait behind it. */
async function seedRefused(retry: string, onDeadLetter: 'continue' | 'hold', waiting: number) {
  const { projectId, endpoints } = await world.seed({ retry, orderingKey: '/key', onDeadLetter });
  const { id: endpointId, endpoint } = endpoints[0]!;
  endpoint.answerWith({ statusCode: 503 });
  const { accept } = acceptingAt(world, projectId, endpointId);
  const first = await accept('a');
  await world.waitForAttempts(first.id, 1);
  const others = [];
  for (let count = 0; count < waiting; count += 1) {
    const other = await accept('a');
    await world.waitForHeld(other.id);
    others.push(other);
  }
  const arrived = () =>
    endpoint.requests.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
  /** No job ends turns, but where the worker spilled the row of an attempt: then it leaves the turn to the job. */
  const waitForRequestOf = ({ id }: { id: string }) =>
    waitFor('the webhook', async () => {
      if (await world.hasSpilled()) await world.endTurns();
      return arrived().includes(id);
    });
  return { endpoint, endpointId, first, others, arrived, waitForRequestOf };
}

describe('a decision about an ordered delivery', () => {
  it('a retry that a person asks for has its sequence, and the next webhook follows it', async () => {
    const { endpoint, first, others, arrived, waitForRequestOf } = await seedRefused('30m', 'continue', 1);
    endpoint.answerWith({ statusCode: 200 });
    const now = Date.now();
    valueOf(await retryDeliveryNow(deps, { deliveryId: first.deliveryId, now }));
    await world.releaseHeld();
    await waitForRequestOf(others[0]!);
    expect(arrived()).toEqual([first.id, first.id, others[0]!.id]);
    expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-sequence'])).toEqual(['1', '1', '2']);
  });

  it('a dead letter that is skipped lets the next webhook follow', async () => {
    const { endpoint, first, others, waitForRequestOf } = await seedRefused('1s', 'hold', 1);
    await world.waitForDeadLetter(first.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    expect(await cancel(first.deliveryId)).toMatchObject({ state: 'cancelled' });
    await world.releaseHeld();
    await waitForRequestOf(others[0]!);
  });

  it('a dead letter whose replay is delivered lets the next webhook follow', async () => {
    const seeded = await seedRefused('1s', 'hold', 1);
    const { endpoint, endpointId, first, others, arrived, waitForRequestOf } = seeded;
    await world.waitForDeadLetter(first.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    await replay(first.id, endpointId);
    await waitForRequestOf(others[0]!);
    expect(arrived()).toEqual([first.id, first.id, first.id, others[0]!.id]);
  });

  it('a replay of a webhook that is still retried does not let the next webhook follow', async () => {
    const { endpoint, endpointId, first, others, arrived } = await seedRefused('30m', 'hold', 1);
    endpoint.answerWith({ statusCode: 200 });
    await replay(first.id, endpointId);
    await world.waitForAttempts(first.id, 2);
    await waitFor('the worker to be idle', () => world.consumers.every(({ inFlight }) => inFlight === 0));
    await world.endTurns();
    expect(arrived()).not.toContain(others[0]!.id);
  });

  it('a webhook that is cancelled behind another does not hold back those behind it', async () => {
    const { endpoint, first, others, arrived, waitForRequestOf } = await seedRefused('30m', 'continue', 2);
    await cancel(others[0]!.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    valueOf(await retryDeliveryNow(deps, { deliveryId: first.deliveryId, now: Date.now() }));
    await world.releaseHeld();
    await waitForRequestOf(others[1]!);
    expect(arrived().filter((id) => id !== first.id)).toEqual([others[1]!.id]);
  });
});

describe('an ordered webhook without a message', () => {
  it('a webhook that is put back takes its turn, and those behind it follow', async () => {
    const { projectId, endpoints } = await world.seed({ orderingKey: '/key' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    const { draft, accept } = acceptingAt(world, projectId, endpointId);
    const first = draft('a');
    await first.record();
    const second = await accept('a');
    await world.waitForHeld(second.id);
    // Each look at the queues is a minute after the one before; a queue may have had a message then.
    await waitFor('the webhook to be put back', async () => {
      world.clock.aheadMs += 61_000;
      return (await world.jobs.putBackStranded.run(running)) > 0;
    });
    const requests = await waitFor('both requests', async () => {
      await world.jobs.drainOutbox.run(running);
      if (await world.hasSpilled()) await world.endTurns();
      return endpoint.requests.length >= 2 && endpoint.requests;
    });
    world.clock.aheadMs = 0;
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([first.id, second.id]);
    expect(requests.map(({ headers }) => headers['x-hqrelay-sequence'])).toEqual(['1', '2']);
  });
});

describe('the metrics of ordered keys', () => {
  it('the gauges count a key with waiting webhooks once, and give the age of the oldest', async () => {
    const { first, others } = await seedRefused('30m', 'continue', 2);
    const gauges = async () => {
      await world.jobs.measureBacklog.run();
      const text = await world.registry.metrics();
      const valueOf = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
      return {
        keys: valueOf('hqrelay_ordered_keys_held'),
        age: valueOf('hqrelay_ordered_key_oldest_age_seconds'),
      };
    };
    world.clock.aheadMs = 7_200_000;
    const before = await gauges();
    world.clock.aheadMs = 0;
    expect(before.keys).toBeGreaterThanOrEqual(1);
    expect(before.age).toBeGreaterThanOrEqual(7_200);
    for (const { deliveryId } of [first, ...others]) await cancel(deliveryId);
    expect((await gauges()).keys).toBe(before.keys - 1);
  });
});
