import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { dispatch } from '../src/delivery/dispatch.ts';
import { startAnotherWorker } from './another-worker.ts';
import { handle, nextAttempts, seedWebhook } from './duplicate-messages.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

const hourMs = 3_600_000;

describe('a duplicate', () => {
  it('a message marked as a possible duplicate is posted when its attempt has no row', async () => {
    const { id, endpoint, content } = await seedWebhook(world, '1h', { mayBeDuplicate: 'done_if_recorded' });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(endpoint.requests).toHaveLength(1);
  });

  it.each([200, 500])(
    'a duplicate whose attempt is recorded (answer %i) is acknowledged without a follow-up',
    async (statusCode) => {
      const { id, endpoint, content, projectId, endpointId } = await seedWebhook(world, '1h');
      endpoint.answerWith({ statusCode });
      await world.send(content);
      await world.waitForAttempts(id, 1);
      await waitFor('the next attempt', () => statusCode === 200 || nextAttempts(world, id).length === 1);
      const published = nextAttempts(world, id).length;

      const again = { id, endpointIds: [endpointId], mayBeDuplicate: 'done_if_recorded' as const };
      expect(await handle(world, world.message(projectId, again))).toBe('ack');

      expect(endpoint.requests).toHaveLength(1);
      expect(nextAttempts(world, id)).toHaveLength(published);
    },
  );

  it('a duplicate of an attempt in flight is not posted, and makes no second schedule', async () => {
    const { id, endpoint, content, projectId, endpointId } = await seedWebhook(world, '1s,1h');
    let answer = () => {};
    const after = new Promise<void>((resolve) => (answer = resolve));
    endpoint.answerWith({ statusCode: 500, after });
    const again = { id, endpointIds: [endpointId], mayBeDuplicate: 'done_if_recorded' as const };
    const first = handle(world, content);
    await endpoint.waitForRequests(1);
    expect(await handle(world, world.message(projectId, again))).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(nextAttempts(world, id)).toEqual([[1, 'hqrelay.delay.2s']]);
    answer();
    expect(await first).toBe('ack');

    const attempts = await world.waitForAttempts(id, 2);
    await waitFor('the third attempt to wait', () =>
      nextAttempts(world, id).some(([attemptNum]) => attemptNum === 3),
    );
    await waitFor('the duplicate to end', async () => (await world.depthOf('hqrelay.delay.2s')) === 0);
    await waitFor('all to be handled', () => world.consumers.every(({ inFlight }) => inFlight === 0));

    expect(attempts.map((attempt) => attempt.attempt_num)).toEqual([1, 2]);
    expect(endpoint.requests.map((request) => request.headers['x-hqrelay-attempt'])).toEqual(['1', '2']);
    // Each later attempt once. The duplicate waits again where it comes back during the second attempt.
    const later = nextAttempts(world, id).flatMap(([attemptNum]) => (attemptNum > 1 ? [attemptNum] : []));
    expect(later).toEqual([2, 3]);
  });
});

describe('a retry', () => {
  it('a retry of a delivered webhook is not posted, although its message is not marked as a duplicate', async () => {
    const { id, endpoint, attempt, content } = await seedWebhook(world, '1h,1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(await handle(world, attempt({ attemptNum: 2, lane: 'retry' }))).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('a retry that was published twice', () => {
  it('a retry that was published twice is not posted by a second worker while the first one posts it', async () => {
    const other = await startAnotherWorker(world);
    try {
      const { id, endpoint, content } = await seedWebhook(world, '1h,1h');
      endpoint.answerWith({ statusCode: 500 });
      await world.send(content);
      await waitFor('the retry', () => nextAttempts(world, id).length === 1);
      // The broker redelivers the first attempt: its worker may have crashed before it published the retry.
      expect(await world.redeliver(content)).toBe('ack');
      const [retry, again] = world.published.filter(({ body }) => body.includes(id)).map(({ body }) => body);

      world.clock.aheadMs = 2 * hourMs;
      // It waits three seconds: by then a slow machine too has recorded the attempt of the first worker.
      other.deps.random = () => 9;
      endpoint.answerWith({ statusCode: 500, delayMs: 150 });
      const answers = await Promise.all([
        dispatch(world.deps, { content: retry!, redelivered: false, entrance: world.entrance, isLive: true }),
        dispatch(other.deps, {
          content: again!,
          redelivered: false,
          entrance: other.gate.entrance('hqrelay.retries'),
          isLive: true,
        }),
      ]);

      expect(answers).toEqual(['ack', 'ack']);
      expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-attempt'])).toEqual(['1', '2']);
      expect(await world.attemptsOf(id)).toHaveLength(2);
    } finally {
      world.clock.aheadMs = 0;
      await other.close();
    }
  });
});
