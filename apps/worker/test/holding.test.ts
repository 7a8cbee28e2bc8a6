import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

afterEach(async () => {
  world.clock.aheadMs = 0;
  await world.sql.query('delete from held_deliveries');
});

type Held = { id: string; endpointId: string };

describe('a delivery', () => {
  it('a delivery whose next attempt is more than an hour away is held in Postgres until it is due', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '2h' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 500 : 200 }));
    const id = freshId();
    const body = Buffer.from([1, 0, 255]);
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }, body));

    const held = await world.waitForHeld(id);
    const [first] = await world.attemptsOf(id);
    expect(held).toMatchObject({ reason: 'delay', queue: 'hqrelay.retries', due_at: first!.next_attempt_at });
    const waitMs = held.due_at.getTime() - first!.attempted_at.getTime();
    expect(waitMs).toBeGreaterThanOrEqual(2 * 3_600_000);

    world.clock.aheadMs = held.due_at.getTime() - Date.now() - 60_000;
    expect(await world.releaseHeld()).toBe(0);
    world.clock.aheadMs = held.due_at.getTime() - Date.now();
    expect(await world.releaseHeld()).toBe(1);

    expect(await world.waitForAttempts(id, 2)).toMatchObject([
      { attempt_num: 1, status: 'failed' },
      { attempt_num: 2, status: 'delivered', lane: 'retry' },
    ]);
    expect(endpoint.requests[1]?.body.equals(body)).toBe(true);
    expect(endpoint.requests[1]?.headers['x-hqrelay-attempt']).toBe('2');
    expect(await world.held()).toEqual([]);
  });

  it.each([
    ['paused', 'paused = true', 'paused = false'],
    ['disabled', "enabled = false, disabled_reason = 'test'", 'enabled = true, disabled_reason = null'],
  ] as const)('a delivery of a %s endpoint is held unattempted until that ends', async (reason, off, on) => {
    const { projectId, endpoints } = await world.seed({});
    const { id: endpointId, endpoint } = endpoints[0]!;
    await world.changeEndpoint(projectId, endpointId, off);
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));

    expect(await world.waitForHeld(id)).toMatchObject({ reason, queue: 'hqrelay.webhooks' });
    expect(await world.releaseHeld()).toBe(0);
    expect(endpoint.requests).toHaveLength(0);

    await world.changeEndpoint(projectId, endpointId, on);
    expect(await world.releaseHeld()).toBe(1);
    expect(await world.waitForAttempts(id, 1)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
    expect(await world.held()).toEqual([]);
  });

  it('deliveries of an endpoint that cannot be released do not keep those of other endpoints', async () => {
    const held = [];
    for (let count = 0; count < 3; count += 1) {
      const { projectId, endpoints } = await world.seed({});
      const endpointId = endpoints[0]!.id;
      await world.changeEndpoint(projectId, endpointId, 'paused = true');
      const id = freshId();
      await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
      await world.waitForHeld(id);
      await world.changeEndpoint(projectId, endpointId, 'paused = false');
      held.push({ id, endpointId });
    }
    const [first, second, third] = held as [Held, Held, Held];
    await world.sql.query(`
      create function refuse_release() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse_release before update or delete on held_deliveries for each row
        when (old.endpoint_id = '${second.endpointId}') execute function refuse_release()`);
    try {
      await expect(world.releaseHeld()).rejects.toThrow('held deliveries were not released');
    } finally {
      await world.sql.query('drop function refuse_release cascade');
    }
    await world.waitForAttempts(first.id, 1);
    await world.waitForAttempts(third.id, 1);
    expect((await world.held()).map((each) => each.webhook_log_id)).toEqual([second.id]);
  });

  it('a delivery with two released messages is attempted once', async () => {
    const { projectId, endpoints } = await world.seed({});
    const { id: endpointId, endpoint } = endpoints[0]!;
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    await world.waitForHeld(id);
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    // As after a crash between the publish and the commit.
    const { rows } = await world.sql.query<{ message: Buffer }>('select message from held_deliveries');
    await world.releaseHeld();
    await world.waitForAttempts(id, 1);
    await world.send(rows[0]!.message);
    const after = freshId();
    await world.send(world.message(projectId, { id: after, endpointIds: [endpointId] }));
    await world.waitForAttempts(after, 1);
    expect(endpoint.requests.filter((request) => request.headers['webhook-id'] === id)).toHaveLength(1);
  });

  it('a delivery answered with 410 disables its endpoint and is held until the endpoint is enabled', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 410 : 200 }));
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));

    expect(await world.waitForHeld(id)).toMatchObject({ reason: 'disabled' });
    expect(await world.attemptsOf(id)).toMatchObject([
      { attempt_num: 1, status: 'failed', status_code: 410, next_attempt_at: null },
    ]);
    const { rows } = await world.sql.query('select enabled, disabled_reason from endpoints where id = $1', [
      endpointId,
    ]);
    expect(rows).toEqual([{ enabled: false, disabled_reason: expect.stringContaining('410') }]);

    const other = freshId();
    await world.send(world.message(projectId, { id: other, endpointIds: [endpointId] }));
    await world.waitForHeld(other);
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.releaseHeld()).toBe(0);

    await world.changeEndpoint(projectId, endpointId, 'enabled = true, disabled_reason = null');
    let released = 0;
    await waitFor('both to be released', async () => (released += await world.releaseHeld()) === 2);
    expect(await world.waitForAttempts(id, 2)).toMatchObject([
      { attempt_num: 1 },
      { attempt_num: 2, status: 'delivered' },
    ]);
    await world.waitForAttempts(other, 1);
  });

  it('a delivery that is released while the worker has its endpoint cached as paused is held again', async () => {
    const { projectId, endpoints } = await world.seed({});
    const { id: endpointId } = endpoints[0]!;
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    await world.waitForHeld(id);
    const [before] = await world.held();
    // Committed, but not announced to the worker yet.
    await world.sql.query('update endpoints set paused = false where id = $1', [endpointId]);
    expect(await world.releaseHeld()).toBe(1);
    await waitFor('it to be held again', async () => {
      const [row] = await world.held();
      return row && row.held_at > before!.held_at;
    });

    await world.forget(projectId);
    world.clock.aheadMs += 50;
    expect(await world.releaseHeld()).toBe(1);
    await world.waitForAttempts(id, 1);
  });
});
