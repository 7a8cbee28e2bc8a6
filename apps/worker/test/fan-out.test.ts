import { deliveryId } from '@hqrelay/domain/ids';
import { freshId } from '@hqrelay/testing/fresh-id';
import { describe, expect, it } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

describe('a webhook', () => {
  it('a webhook goes byte for byte to every endpoint that it owes, and to no other of its project', async () => {
    const { projectId, endpoints } = await world.seed({}, {}, {});
    const [first, second, other] = endpoints;
    const id = freshId();
    const body = Buffer.from([0, 1, 2, 255, 254]);
    await world.send(
      world.message(
        projectId,
        {
          id,
          endpointIds: [first!.id, second!.id],
          headers: [
            ['X-Provider', 'a'],
            ['x-provider', 'b'],
          ],
          correlationId: 'order-7',
        },
        body,
      ),
    );

    const attempts = await world.waitForAttempts(id, 2);
    for (const { endpoint } of [first!, second!]) {
      expect(endpoint.requests).toHaveLength(1);
      expect(endpoint.requests[0]?.body.equals(body)).toBe(true);
      expect(endpoint.requests[0]?.headers).toMatchObject({
        'webhook-id': id,
        'x-hqrelay-attempt': '1',
        'x-correlation-id': 'order-7',
        'x-provider': 'a, b',
      });
    }
    expect(other!.endpoint.requests).toHaveLength(0);
    expect(new Set(attempts.map((attempt) => attempt.delivery_id))).toEqual(
      new Set([deliveryId(id, first!.id), deliveryId(id, second!.id)]),
    );
  });

  it('a webhook that owes no endpoint is acknowledged without a request', async () => {
    const { projectId, endpoints } = await world.seed({});
    const [only] = endpoints;
    const nothing = freshId();
    const after = freshId();
    await world.send(world.message(projectId, { id: nothing, endpointIds: [] }));
    await world.send(world.message(projectId, { id: after, endpointIds: [only!.id] }));
    await world.waitForAttempts(after, 1);
    expect(await world.attemptsOf(nothing)).toEqual([]);
    expect(await world.deadLettersOf(nothing)).toEqual([]);
  });

  it('a webhook that fails at one endpoint is retried at that endpoint only', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s' }, { retry: '1s' });
    const [failing, fine] = endpoints;
    failing!.endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 500 : 200 }));
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [failing!.id, fine!.id] }));

    const attempts = await world.waitForAttempts(id, 3);
    expect(
      attempts.map((attempt) => [attempt.endpoint_id === fine!.id, attempt.attempt_num, attempt.status]),
    ).toEqual(
      expect.arrayContaining([
        [true, 1, 'delivered'],
        [false, 1, 'failed'],
        [false, 2, 'delivered'],
      ]),
    );
    expect(fine!.endpoint.requests).toHaveLength(1);
  });

  it('a webhook whose message is redelivered after its fan-out is delivered once to each endpoint', async () => {
    const { projectId, endpoints } = await world.seed({}, {});
    const id = freshId();
    const content = world.message(projectId, { id, endpointIds: endpoints.map((each) => each.id) });
    await world.send(content);
    await world.waitForAttempts(id, 2);

    expect(await world.redeliver(content)).toBe('ack');

    // The duplicates are in the queue before this message.
    const after = freshId();
    await world.send(world.message(projectId, { id: after, endpointIds: endpoints.map((each) => each.id) }));
    await world.waitForAttempts(after, 2);
    for (const { endpoint } of endpoints) {
      expect(endpoint.requests.filter((request) => request.headers['webhook-id'] === id)).toHaveLength(1);
    }
  });
});
