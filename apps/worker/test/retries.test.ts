import { deadLetterQueue } from '@hqrelay/queue/topology';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

describe('a delivery that fails', () => {
  it('a delivery that fails is attempted again after each delay, never earlier, then is a dead letter', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s,2s' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith({ statusCode: 500, body: 'out of order' });
    const id = freshId();
    const body = Buffer.from('{"n":1}');
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }, body));

    const attempts = await world.waitForAttempts(id, 3);
    const deadLetter = await world.waitForDeadLetter(attempts[0]!.delivery_id);

    expect(attempts).toMatchObject([
      { attempt_num: 1, status: 'failed', lane: 'live' },
      { attempt_num: 2, status: 'failed', lane: 'retry' },
      { attempt_num: 3, status: 'dead_lettered', lane: 'retry', next_attempt_at: null },
    ]);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({
        status_code: 500,
        error: 'HTTP 500',
        response_body: 'out of order',
        endpoint_id: endpointId,
        delivery_id: attempts[0]!.delivery_id,
      });
    }
    for (const [index, delayMs] of [1_000, 2_000].entries()) {
      const [attempt, next] = [attempts[index]!, attempts[index + 1]!];
      const endedAt = attempt.attempted_at.getTime() + attempt.latency_ms;
      const due = attempt.next_attempt_at!.getTime();
      expect(due - endedAt).toBeGreaterThanOrEqual(delayMs - 1);
      // The bounds leave time for a busy machine.
      expect(due - endedAt).toBeLessThan(delayMs * 1.1 + 5_000);
      expect(next.attempted_at.getTime()).toBeGreaterThanOrEqual(due);
      expect(next.attempted_at.getTime() - due).toBeLessThan(30_000);
    }

    expect(endpoint.requests.map((request) => request.headers['x-hqrelay-attempt'])).toEqual(['1', '2', '3']);
    expect(endpoint.requests.every((request) => request.headers['webhook-id'] === id)).toBe(true);
    expect(endpoint.requests.every((request) => request.body.equals(body))).toBe(true);

    expect(deadLetter).toMatchObject({
      kind: 'delivery',
      reason: 'HTTP 500 at attempt 3, the last',
      project_id: projectId,
      webhook_log_id: id,
      endpoint_id: endpointId,
      content: null,
      replay_id: null,
    });
    expect(world.publishedOf(id).filter(({ routingKey }) => routingKey === deadLetterQueue)).toHaveLength(1);
  });

  it('a delivery is not attempted again after the attempt that succeeds', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s,1s,1s' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith((_request, count) => (count < 3 ? { instead: 'reset' } : { statusCode: 204 }));
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    expect(await world.waitForAttempts(id, 3)).toMatchObject([
      { attempt_num: 1, status: 'failed', status_code: null, error: expect.stringContaining('connection') },
      { attempt_num: 2, status: 'failed', status_code: null },
      { attempt_num: 3, status: 'delivered', status_code: 204, error: null, next_attempt_at: null },
    ]);
    expect(world.publishedOf(id)).toHaveLength(2);
    expect(await world.deadLettersOf(id)).toEqual([]);
  });

  it('a delivery without an answer in time is retried, and the error says how long the attempt waited', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s', timeoutMs: 1_500 });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith((_request, count) => (count === 1 ? { instead: 'hang' } : {}));
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    const [first] = await world.waitForAttempts(id, 2);
    expect(first).toMatchObject({
      status: 'failed',
      status_code: null,
      error: 'timed out after 1500 ms waiting for headers',
    });
    // The delay counts from the end of the attempt, not from its beginning.
    expect(first!.next_attempt_at!.getTime() - first!.attempted_at.getTime()).toBeGreaterThanOrEqual(2_499);
  });

  it('a Retry-After lengthens the delay before the next attempt, and never shortens it', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s' }, { retry: '2s' });
    const [longer, shorter] = endpoints;
    for (const [each, seconds] of [
      [longer!, '3'],
      [shorter!, '0'],
    ] as const) {
      each.endpoint.answerWith((_request, count) =>
        count === 1 ? { statusCode: 503, headers: { 'retry-after': seconds } } : {},
      );
    }
    const id = freshId();
    await world.send(world.message(projectId, { id, endpointIds: [longer!.id, shorter!.id] }));
    const attempts = await world.waitForAttempts(id, 4);
    for (const [each, delayMs] of [
      [longer!, 3_000],
      [shorter!, 2_000],
    ] as const) {
      const [first, second] = attempts.filter((attempt) => attempt.endpoint_id === each.id);
      const endedAt = first!.attempted_at.getTime() + first!.latency_ms;
      expect(first!.next_attempt_at!.getTime() - endedAt).toBeGreaterThanOrEqual(delayMs - 1);
      expect(first!.next_attempt_at!.getTime() - endedAt).toBeLessThan(delayMs * 1.1 + 5_000);
      expect(second!.attempted_at.getTime()).toBeGreaterThanOrEqual(first!.next_attempt_at!.getTime());
    }
  });

  it('a retry waits in the longest delay queue that fits its remaining delay, and in 1s below that', async () => {
    // The remaining delay is as long as the test says, however slow the machine is.
    world.clock.stoppedAt = Date.now();
    onTestFinished(() => void (world.clock.stoppedAt = undefined));
    const { projectId, endpoints } = await world.seed({ retry: '30m' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    endpoint.answerWith({ statusCode: 500 });
    const id = freshId();
    const content = world.message(projectId, { id, endpointIds: [endpointId] });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    const [sent] = await waitFor('the follow-up', () => {
      const published = world.publishedOf(id);
      return published.length > 0 && published;
    });
    expect(sent).toMatchObject({
      exchange: 'hqrelay.delay.30m',
      routingKey: 'hqrelay.retries',
      attemptNum: 2,
    });
    const remaining = [
      [59_000, 'hqrelay.delay.30s'],
      [3_600_000, 'hqrelay.delay.1h'],
      [400, 'hqrelay.delay.1s'],
    ] as const;
    for (const [remainingMs, exchange] of remaining) {
      const { exchange: _exchange, routingKey: _routingKey, ...fields } = sent!;
      const message = world.message(projectId, {
        id,
        endpointIds: [endpointId],
        delivery: { ...fields, notBefore: world.now() + remainingMs },
      });
      expect(await world.redeliver(message)).toBe('ack');
      expect(world.publishedOf(id).at(-1)).toMatchObject({ exchange, attemptNum: 2 });
    }
    expect(endpoint.requests).toHaveLength(1);
  });
});
