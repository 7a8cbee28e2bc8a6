import { deliveryId, newId } from '@hqrelay/domain/ids';
import { decodeMessage, type DeliveryFields } from '@hqrelay/queue/messages';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkerWorld, type WorkerWorld } from './worker-world.ts';

let world: WorkerWorld;

beforeAll(async () => {
  world = await startWorkerWorld();
});

afterAll(() => world.close());

/** A webhook with one endpoint, and its message. */
async function webhook(retry: string, envelope: { copy?: boolean } = {}) {
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

/** Something happens when the worker has been answered for the n-th time. Returns what ends it. */
function afterAsking(times: number, act: () => unknown): () => void {
  const { readHistory } = world.deps;
  let asked = 0;
  world.deps.readHistory = async (key) => {
    const answer = await readHistory(key);
    if ((asked += 1) === times) await act();
    return answer;
  };
  return () => (world.deps.readHistory = readHistory);
}

/** Another worker has delivered it at the first attempt. */
async function recordElsewhere(content: Buffer): Promise<void> {
  const { id, endpointIds, projectId } = decodedEnvelope(content);
  await world.deps.recorder.record({
    kind: 'attempt',
    attempt: {
      id: newId(),
      deliveryId: deliveryId(id, endpointIds[0]!),
      webhookLogId: id,
      projectId,
      endpointId: endpointIds[0]!,
      lane: 'live',
      attemptNum: 1,
      status: 'delivered',
      statusCode: 200,
      latencyMs: 100,
      error: null,
      responseBody: null,
      correlationId: 'test',
      nextAttemptAt: null,
    },
  });
}

function nextAttempts(id: string): [number, string][] {
  return world.publishedOf(id).map((each) => [each.attemptNum, each.exchange]);
}

describe('a message given out again', () => {
  it('after its delivery is acknowledged without another request', async () => {
    const { id, endpoint, content } = await webhook('1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('while another worker still has it in its hands is not posted beside it', async () => {
    const { id, endpoint, content } = await webhook('1h');
    // The other one's attempt gets its row just after this one has asked for it.
    const restore = afterAsking(1, () => recordElsewhere(content));
    expect(await world.redeliver(content)).toBe('ack');
    restore();
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
  });

  it('that waits for its endpoint while another worker posts it is not posted too', async () => {
    const { id, endpoint, endpointId, content } = await webhook('1h');
    world.fleet.size = 256;
    const pass = await world.gate
      .entrance('hqrelay.webhooks')
      .enter(endpointId, { bytes: 0, timeoutMs: 1_000 });
    if (typeof pass === 'string') throw new Error(pass);
    const restore = afterAsking(2, () => {
      setTimeout(() => void recordElsewhere(content).then(() => pass.leave('none')), 100);
    });
    expect(await world.redeliver(content)).toBe('ack');
    restore();
    world.fleet.size = 1;
    expect(endpoint.requests).toHaveLength(0);
    expect(await world.attemptsOf(id)).toHaveLength(1);
    // Its slot is free again.
    const room = world.gate.room(endpointId);
    expect(room.kind === 'room' && room.deliveriesInto('hqrelay.webhooks')).toBe(224);
  });

  it('while Postgres has just stalled waits for what it knows, and is not posted unasked', async () => {
    const { id, endpoint, content } = await webhook('1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    world.postgres.markDown(new Error('a stall'));
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
  });

  it('after its failed attempt was recorded does not post again, and goes on to the next attempt', async () => {
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

  it('after a later attempt was recorded ends there', async () => {
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

  it('whose attempt was never recorded is posted (again)', async () => {
    const { id, endpoint, content } = await webhook('1h');
    expect(await world.redeliver(content)).toBe('ack');
    expect(endpoint.requests).toHaveLength(1);
    expect(await world.attemptsOf(id)).toMatchObject([{ attempt_num: 1, status: 'delivered' }]);
  });

  it('after its last attempt was recorded is a dead letter all the same', async () => {
    const { id, endpointId, content, attempt, endpoint } = await webhook('1s');
    endpoint.answerWith({ statusCode: 500 });
    await world.send(content);
    await world.waitForAttempts(id, 2);
    const ofDelivery = deliveryId(id, endpointId);
    await world.waitForDeadLetter(ofDelivery);
    await world.sql.query('delete from dead_letters where id = $1', [ofDelivery]);
    // The worker might have died between the row and the dead letter: it cannot know.
    expect(await world.redeliver(attempt({ attemptNum: 2, lane: 'retry' }))).toBe('ack');
    expect(endpoint.requests).toHaveLength(2);
    expect(await world.waitForDeadLetter(ofDelivery)).toMatchObject({
      kind: 'delivery',
      reason: expect.stringContaining('HTTP 500'),
    });
  });

  it('after a failed attempt was recorded is not lost when it is held first', async () => {
    const { id, endpointId, endpoint, content, projectId } = await webhook('2h');
    endpoint.answerWith((_request, count) => ({ statusCode: count === 1 ? 500 : 200 }));
    await world.send(content);
    await world.waitForHeld(id);
    const [first] = await world.attemptsOf(id);
    // As if whoever recorded the attempt had died there: this message alone goes on.
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

  it('after a failed attempt was recorded is not lost when its project cannot be read first', async () => {
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
    // Round through a delay queue, or straight on: what counts is that it goes on in the end, and without a request.
    await waitFor(
      'it to go on',
      () => nextAttempts(id).filter(([attemptNum]) => attemptNum === 2).length === 2,
    );
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('a message that is marked as a copy', () => {
  it('is posted when nothing is recorded', async () => {
    const { id, endpoint, content } = await webhook('1h', { copy: true });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    expect(endpoint.requests).toHaveLength(1);
  });

  it.each([200, 500])('ends where the attempt is recorded (%i)', async (statusCode) => {
    const { id, endpoint, content, projectId, endpointId } = await webhook('1h');
    endpoint.answerWith({ statusCode });
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await waitFor('the next attempt', () => statusCode === 200 || nextAttempts(id).length === 1);
    const published = nextAttempts(id).length;

    await world.send(world.message(projectId, { id, endpointIds: [endpointId], copy: true }));
    const after = newId();
    await world.send(world.message(projectId, { id: after, endpointIds: [endpointId] }));
    await world.waitForAttempts(after, 1);

    expect(endpoint.requests.filter((request) => request.headers['webhook-id'] === id)).toHaveLength(1);
    expect(nextAttempts(id)).toHaveLength(published);
  });

  it('is not posted beside the message it is a copy of, nor becomes a second life', async () => {
    const { id, endpoint, content, projectId, endpointId } = await webhook('1s,1h');
    endpoint.answerWith({ statusCode: 500, delayMs: 300 });
    await world.send(content);
    await world.send(world.message(projectId, { id, endpointIds: [endpointId], copy: true }));
    await endpoint.waitForRequests(2);

    const attempts = await world.waitForAttempts(id, 2);
    await waitFor('the third attempt to wait', () =>
      nextAttempts(id).some(([attemptNum]) => attemptNum === 3),
    );

    expect(attempts.map((attempt) => attempt.attempt_num)).toEqual([1, 2]);
    expect(endpoint.requests.map((request) => request.headers['x-hqrelay-attempt'])).toEqual(['1', '2']);
    expect(nextAttempts(id).filter(([attemptNum]) => attemptNum === 2)).toHaveLength(1);
  });
});

describe('an attempt', () => {
  it('asks what is recorded before a request from the second one on, whatever the message says', async () => {
    const { id, endpoint, attempt, content } = await webhook('1h,1h');
    await world.send(content);
    await world.waitForAttempts(id, 1);
    await world.send(attempt({ attemptNum: 2, lane: 'retry' }), 'hqrelay.retries');
    const after = await webhook('1h');
    await world.send(after.attempt({ attemptNum: 2, lane: 'retry' }), 'hqrelay.retries');
    await world.waitForAttempts(after.id, 1);
    expect(endpoint.requests).toHaveLength(1);
  });
});
