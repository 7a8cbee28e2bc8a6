import type { ActionResult } from '@hqrelay/actions/action';
import { cancelDelivery } from '@hqrelay/actions/delivery/cancel-delivery';
import { retryDeliveryNow } from '@hqrelay/actions/delivery/retry-delivery-now';
import { replayWebhook } from '@hqrelay/actions/replay/replay-webhook';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { acceptingAt } from './ordered-webhooks.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();
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
  return { endpoint, endpointId, first, others, arrived };
}

// No job ends turns here: the next webhook follows at once.
describe('a decision about an ordered delivery', () => {
  it('a retry that a person asks for has its sequence, and the next webhook follows it', async () => {
    const { endpoint, first, others, arrived } = await seedRefused('30m', 'continue', 1);
    endpoint.answerWith({ statusCode: 200 });
    const now = Date.now();
    valueOf(await retryDeliveryNow(deps, { deliveryId: first.deliveryId, now }));
    await world.releaseHeld();
    await endpoint.waitForRequests(3);
    expect(arrived()).toEqual([first.id, first.id, others[0]!.id]);
    expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-sequence'])).toEqual(['1', '1', '2']);
  });

  it('a dead letter that is skipped lets the next webhook follow', async () => {
    const { endpoint, first, others, arrived } = await seedRefused('1s', 'hold', 1);
    await world.waitForDeadLetter(first.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    expect(await cancel(first.deliveryId)).toMatchObject({ state: 'cancelled' });
    await world.releaseHeld();
    await waitFor('the second', () => arrived().includes(others[0]!.id));
  });

  it('a dead letter whose replay is delivered lets the next webhook follow', async () => {
    const { endpoint, endpointId, first, others, arrived } = await seedRefused('1s', 'hold', 1);
    await world.waitForDeadLetter(first.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    valueOf(
      await replayWebhook(deps, {
        webhookLogId: first.id,
        endpointIds: [endpointId],
        requestedBy: 'test',
        now: Date.now(),
      }),
    );
    await world.releaseHeld();
    await waitFor('the second', () => arrived().includes(others[0]!.id));
    expect(arrived()).toEqual([first.id, first.id, first.id, others[0]!.id]);
  });

  it('a replay of a webhook that is still retried does not let the next webhook follow', async () => {
    const { endpoint, endpointId, first, others, arrived } = await seedRefused('30m', 'hold', 1);
    endpoint.answerWith({ statusCode: 200 });
    valueOf(
      await replayWebhook(deps, {
        webhookLogId: first.id,
        endpointIds: [endpointId],
        requestedBy: 'test',
        now: Date.now(),
      }),
    );
    await world.releaseHeld();
    await world.waitForAttempts(first.id, 2);
    await waitFor('the worker to be idle', () => world.consumers.every(({ inFlight }) => inFlight === 0));
    await world.jobs.endTurns.run();
    expect(arrived()).not.toContain(others[0]!.id);
  });

  it('a webhook that is cancelled behind another does not hold back those behind it', async () => {
    const { endpoint, first, others, arrived } = await seedRefused('1s', 'continue', 2);
    await cancel(others[0]!.deliveryId);
    endpoint.answerWith({ statusCode: 200 });
    await waitFor('the third', () => arrived().includes(others[1]!.id));
    expect(arrived().filter((id) => id !== first.id)).toEqual([others[1]!.id]);
  });
});
