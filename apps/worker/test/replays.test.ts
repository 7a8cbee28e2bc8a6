import { deliveryId } from '@hqrelay/domain/ids';
import type { Envelope } from '@hqrelay/queue/messages';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

/** A webhook that was delivered before, and the message of a replay of it. */
async function replayed(retry: string, envelope: Partial<Envelope> = {}) {
  const { projectId, endpoints } = await world.seed({ retry });
  const { id: endpointId, endpoint } = endpoints[0]!;
  const [id, replayId] = [freshId(), freshId()];
  await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
  await world.waitForAttempts(id, 1);
  const fields = { deliveryId: deliveryId(id, endpointId, replayId), endpointId, replayId };
  const content = world.message(projectId, {
    id,
    endpointIds: [endpointId],
    mayBeDuplicate: 'done_if_recorded',
    delivery: { ...fields, attemptNum: 1, lane: 'replay', notBefore: 0 },
    ...envelope,
  });
  return { id, projectId, endpointId, endpoint, ofReplay: fields.deliveryId, content };
}

describe('a replay', () => {
  it('a replay of a delivered webhook is delivered under the same id, its attempts counted from 1', async () => {
    const { id, endpoint, ofReplay, content } = await replayed('1s');
    endpoint.answerWith((_request, count) => ({ statusCode: count === 2 ? 503 : 200 }));
    await world.send(content, 'hqrelay.replays');
    const attempts = await world.waitForAttempts(id, 3);
    expect(attempts.filter((each) => each.delivery_id === ofReplay)).toMatchObject([
      { attempt_num: 1, lane: 'replay', status: 'failed' },
      { attempt_num: 2, lane: 'replay', status: 'delivered' },
    ]);
    expect(endpoint.requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id]);
    expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-attempt'])).toEqual(['1', '1', '2']);
    // Its next attempt does not leave the lane.
    expect(world.publishedOf(id)).toMatchObject([
      { routingKey: 'hqrelay.replays', lane: 'replay', attemptNum: 2, deliveryId: ofReplay },
    ]);
  });

  it('a redelivered message of a replay is not posted again', async () => {
    const { id, endpoint, content } = await replayed('1s');
    await world.send(content, 'hqrelay.replays');
    await world.waitForAttempts(id, 2);
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(2);
  });

  it('a replay that uses up its schedule is a dead letter of its own', async () => {
    const { id, endpoint, ofReplay, content } = await replayed('1s');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content, 'hqrelay.replays');
    expect(await world.waitForDeadLetter(ofReplay)).toMatchObject({
      kind: 'delivery',
      webhook_log_id: id,
      reason: 'HTTP 500 at attempt 2, the last',
    });
    expect(await world.deadLettersOf(id)).toHaveLength(1);
  });

  it('a replay for a paused endpoint is held, and released into its lane', async () => {
    const { id, projectId, endpointId, content, ofReplay } = await replayed('1s');
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    await world.send(content, 'hqrelay.replays');
    expect(await world.waitForHeld(id)).toMatchObject({
      reason: 'paused',
      delivery_id: ofReplay,
      queue: 'hqrelay.replays',
    });
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    await waitFor('it to be released', async () => (await world.releaseHeld()) === 1);
    const attempts = await world.waitForAttempts(id, 2);
    expect(attempts.find((each) => each.delivery_id === ofReplay)).toMatchObject({ lane: 'replay' });
  });
});
