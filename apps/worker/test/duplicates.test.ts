import { deliveryId, newId } from '@hqrelay/domain/ids';
import { decodeMessage, type DeliveryFields, type Envelope } from '@hqrelay/queue/messages';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../src/delivery/dispatch.ts';
import type { Entrance } from '../src/endpoint/endpoint-gate.ts';
import { startAnotherWorker } from './another-worker.ts';
import { startWorkerWorld, type WorkerWorld } from './worker-world.ts';

let world: WorkerWorld;

beforeAll(async () => {
  world = await startWorkerWorld();
});

afterAll(() => world.close());

/** A webhook with one endpoint, and its message. */
async function webhook(retry: string, envelope: Partial<Envelope> = {}) {
  const { projectId, endpoints } = await world.seed({ retry });
  const { id: endpointId, endpoint } = endpoints[0]!;
  const id = newId();
  const ids = { id, endpointIds: [endpointId] };
  const fields = (changes: Partial<DeliveryFields>): DeliveryFields => ({
    deliveryId: deliveryId(id, endpointId),
    endpointId,
    attemptNum: 1,
    lane: 'live',
    notBefore: 0,
    ...changes,
  });
  return {
    id,
    projectId,
    endpointId,
    endpoint,
    content: world.message(projectId, { ...ids, ...envelope }),
    attempt: (changes: Partial<DeliveryFields>) =>
      world.message(projectId, { ...ids, delivery: fields(changes) }),
  };
}

function decodedEnvelope(content: Buffer) {
  const decoded = decodeMessage(content);
  if (decoded.kind !== 'message') throw new Error(decoded.reason);
  return decoded.message.envelope;
}

const hourMs = 3_600_000;

/** Another worker, whose clock is `behindMs` behind, records the first attempt. */
async function recordElsewhere(
  content: Buffer,
  { behindMs = 0, nextAttemptAt = null }: { behindMs?: number; nextAttemptAt?: number | null } = {},
): Promise<void> {
  const { id, endpointIds, projectId } = decodedEnvelope(content);
  await world.deps.recorder.record({
    kind: 'attempt',
    attempt: {
      id: newId(Date.now() - behindMs),
      deliveryId: deliveryId(id, endpointIds[0]!),
      webhookLogId: id,
      projectId,
      endpointId: endpointIds[0]!,
      lane: 'live',
      attemptNum: 1,
      status: nextAttemptAt === null ? 'delivered' : 'failed',
      statusCode: nextAttemptAt === null ? 200 : 500,
      latencyMs: 100,
      error: null,
      responseBody: null,
      correlationId: 'test',
      nextAttemptAt,
    },
  });
}

/** Handles a message that the broker delivers for the first time. */
function handle(content: Buffer) {
  return dispatch(world.deps, { content, redelivered: false, entrance: world.entrance });
}

/** The attempts of a webhook that the worker has published, and their exchanges. */
function nextAttempts(id: string): [number, string][] {
  return world.publishedOf(id).map((each) => [each.attemptNum, each.exchange]);
}

describe('a redelivered message', () => {
  it('whose delivery is recorded is acknowledged without another request', async () => {
    const { id, endpoint, content } = await webhook('1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('is not posted when another worker records the attempt a moment later', async () => {
    const { id, endpoint, content } = await webhook('1h');
    const verdict = world.redeliver(content);
    await recordElsewhere(content);
    expect(await verdict).toBe('ack');
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('is not posted when another worker records the attempt while it waits for a slot of its endpoint', async () => {
    const { id, endpoint, endpointId, content } = await webhook('1h');
    world.fleet.size = 256;
    const pass = await world.entrance.enter(endpointId, 1_000);
    if (typeof pass === 'string') throw new Error(pass);
    const entrance: Entrance = {
      enter: async (...args) => {
        const entering = world.entrance.enter(...args);
        await recordElsewhere(content);
        pass.leave('none');
        return entering;
      },
    };
    expect(await dispatch(world.deps, { content, redelivered: true, entrance })).toBe('ack');
    world.fleet.size = 1;
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
    // Its own slot is free again.
    const room = world.gate.room(endpointId);
    expect(room.kind === 'room' && room.deliveriesInto('hqrelay.webhooks')).toBe(216);
  });

  it('is not posted during a short stall of Postgres, but waits for the answer', async () => {
    const { id, endpoint, content } = await webhook('1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    world.postgres.markDown(new Error('a stall'));
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
  });

  it('whose failed attempt is recorded is not posted, and resumes with the next attempt', async () => {
    const { id, endpoint, content } = await webhook('1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    const [attempt] = await world.waitForAttempts(id, 1);
    await waitFor('the next attempt', () => nextAttempts(id).length === 1);

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toHaveLength(1);
    expect(world.publishedOf(id).map((each) => [each.attemptNum, each.notBefore])).toEqual([
      [2, attempt!.next_attempt_at!.getTime()],
      [2, attempt!.next_attempt_at!.getTime()],
    ]);
  });

  it('of an earlier attempt than the last recorded one is acknowledged and has no follow-up', async () => {
    const { id, endpoint, content, attempt } = await webhook('1h,1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await world.send(attempt({ attemptNum: 2, lane: 'retry' }), 'hqrelay.retries');
    await world.waitForAttempts(id, 2);
    await waitFor('both next attempts', () => nextAttempts(id).length === 2);

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(2);
    expect(nextAttempts(id)).toHaveLength(2);
  });

  it('whose attempt has no row is posted', async () => {
    const { id, endpoint, content } = await webhook('1h');
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
  });

  it('whose last attempt is recorded is a dead letter again', async () => {
    const { id, endpointId, content, attempt, endpoint } = await webhook('1s');
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

  it('whose failed attempt is recorded resumes, also for an endpoint that is paused by then', async () => {
    const { id, endpointId, endpoint, content, projectId } = await webhook('2h');
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

  it('that was held before its attempt was recorded resumes when it is released', async () => {
    const { id, endpointId, endpoint, content, projectId } = await webhook('1h');
    await world.changeEndpoint(projectId, endpointId, 'paused = true');
    expect(await world.redeliver(content)).toBe('ack');
    await world.waitForHeld(id);
    const nextAttemptAt = Date.now() + hourMs;
    // The worker that had the message was cut off from the broker, and crashes after the row.
    await recordElsewhere(content, { nextAttemptAt });
    await world.changeEndpoint(projectId, endpointId, 'paused = false');
    await world.releaseHeld();
    await waitFor('the next attempt', () => nextAttempts(id).some(([attemptNum]) => attemptNum === 2));
    expect(endpoint.requests).toHaveLength(0);
  });

  it('whose failed attempt is recorded resumes after its project could not be read', async () => {
    const { id, endpoint, content } = await webhook('1h');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await waitFor('the next attempt', () => nextAttempts(id).length === 1);
    const { findProject } = world.deps;
    world.deps.findProject = () => ({ kind: 'unavailable' });
    try {
      expect(await world.redeliver(content)).toBe('ack');
    } finally {
      world.deps.findProject = findProject;
    }
    await waitFor(
      'the next attempt to be published again',
      () => nextAttempts(id).filter(([attemptNum]) => attemptNum === 2).length === 2,
    );
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('a message that was published again', () => {
  it('is posted where its attempt has no row', async () => {
    const { id, endpoint, content } = await webhook('1h', { mayBeDuplicate: 'done_if_recorded' });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(endpoint.requests).toHaveLength(1);
  });

  it.each([200, 500])(
    'is acknowledged without a follow-up where its attempt is recorded (answer %i)',
    async (statusCode) => {
      const { id, endpoint, content, projectId, endpointId } = await webhook('1h');
      endpoint.answerWith({ statusCode });
      await world.send(content);
      await world.waitForAttempts(id, 1);
      await waitFor('the next attempt', () => statusCode === 200 || nextAttempts(id).length === 1);
      const published = nextAttempts(id).length;

      const again = { id, endpointIds: [endpointId], mayBeDuplicate: 'done_if_recorded' as const };
      expect(await handle(world.message(projectId, again))).toBe('ack');

      expect(endpoint.requests).toHaveLength(1);
      expect(nextAttempts(id)).toHaveLength(published);
    },
  );

  it('is not posted while the other message is in flight in the same worker, and does not fork the schedule', async () => {
    const { id, endpoint, content, projectId, endpointId } = await webhook('1s,1h');
    endpoint.answerWith((_request, count) => ({ statusCode: 500, delayMs: count === 1 ? 800 : 0 }));
    const again = { id, endpointIds: [endpointId], mayBeDuplicate: 'done_if_recorded' as const };
    const first = handle(content);
    await endpoint.waitForRequests(1);
    expect(await handle(world.message(projectId, again))).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(nextAttempts(id)).toEqual([[1, 'hqrelay.delay.2s']]);
    expect(await first).toBe('ack');

    const attempts = await world.waitForAttempts(id, 2);
    await waitFor('the third attempt to wait', () =>
      nextAttempts(id).some(([attemptNum]) => attemptNum === 3),
    );
    await waitFor('the duplicate to end', async () => (await world.depthOf('hqrelay.delay.2s')) === 0);
    await waitFor('all to be handled', () => world.consumers.every(({ inFlight }) => inFlight === 0));

    expect(attempts.map((attempt) => attempt.attempt_num)).toEqual([1, 2]);
    expect(endpoint.requests.map((request) => request.headers['x-hqrelay-attempt'])).toEqual(['1', '2']);
    // The duplicate of the first attempt, and each later attempt once.
    expect(nextAttempts(id).map(([attemptNum]) => attemptNum)).toEqual([1, 2, 3]);
  });
});

describe('a retry', () => {
  it('asks for its history although its message is not marked', async () => {
    const { id, endpoint, attempt, content } = await webhook('1h,1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(await handle(attempt({ attemptNum: 2, lane: 'retry' }))).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('a redelivered message whose attempt is recorded by a worker with a slow clock', () => {
  it('is not posted when that clock is two hours behind', async () => {
    const { id, endpoint, content } = await webhook('1h');
    const nextAttemptAt = Date.now() + 30_000;
    await recordElsewhere(content, { behindMs: 2 * hourMs, nextAttemptAt });

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(0);
    expect(world.publishedOf(id)).toMatchObject([{ attemptNum: 2, notBefore: nextAttemptAt }]);
  });

  it('is posted once when that clock is two days behind, and resumes after the recorded attempt', async () => {
    const { id, endpoint, content } = await webhook('1h');
    const nextAttemptAt = Date.now() + 30_000;
    await recordElsewhere(content, { behindMs: 48 * hourMs, nextAttemptAt });

    expect(await world.redeliver(content)).toBe('ack');

    expect(endpoint.requests).toHaveLength(1);
    expect(world.publishedOf(id)).toMatchObject([{ attemptNum: 2, notBefore: nextAttemptAt }]);
    expect(await world.attemptsOf(id)).toMatchObject([{ attempt_num: 1, status: 'failed' }]);
  });
});

describe('a retry that is published again after a crash', () => {
  it('is not posted by a second worker while the first one posts it', async () => {
    const other = await startAnotherWorker(world);
    try {
      const { id, endpoint, content } = await webhook('1h,1h');
      endpoint.answerWith({ statusCode: 500 });
      await world.send(content);
      await waitFor('the retry', () => nextAttempts(id).length === 1);
      // The broker redelivers the first attempt: its worker may have crashed before it published the retry.
      expect(await world.redeliver(content)).toBe('ack');
      const [retry, again] = world.published.filter(({ body }) => body.includes(id)).map(({ body }) => body);

      world.clock.aheadMs = 2 * hourMs;
      endpoint.answerWith({ statusCode: 500, delayMs: 150 });
      const verdicts = await Promise.all([
        dispatch(world.deps, { content: retry!, redelivered: false, entrance: world.entrance }),
        dispatch(other.deps, {
          content: again!,
          redelivered: false,
          entrance: other.gate.entrance('hqrelay.retries'),
        }),
      ]);

      expect(verdicts).toEqual(['ack', 'ack']);
      expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-attempt'])).toEqual(['1', '2']);
      expect(await world.attemptsOf(id)).toHaveLength(2);
    } finally {
      world.clock.aheadMs = 0;
      await other.close();
    }
  });
});
