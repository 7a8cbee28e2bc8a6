import { timeOfId } from '@hqrelay/domain/ids';
import type { RecordedRequest, RecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { acceptingAt, type Accepted } from './ordered-webhooks.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld();

async function seedOrdered(how: { retry?: string; timeoutMs?: number } = {}) {
  const { projectId, endpoints } = await world.seed({ retry: '1s,1s', orderingKey: '/key', ...how });
  const { id: endpointId, endpoint } = endpoints[0]!;
  return { projectId, endpointId, endpoint, ...acceptingAt(world, projectId, endpointId) };
}

const bodyOf = ({ body }: RecordedRequest) => JSON.parse(body.toString()) as { id: string; key: string };

/** The ids of the requests with this key, in the order they arrived. */
function arrivals(endpoint: RecordingEndpoint, key: string): string[] {
  return endpoint.requests.map(bodyOf).flatMap((body) => (body.key === key ? [body.id] : []));
}

/** Answers 503 to the webhooks of which `isRefused` is true. */
function refuse(endpoint: RecordingEndpoint, isRefused: (id: string) => boolean): void {
  endpoint.answerWith((request) => ({ statusCode: isRefused(bodyOf(request).id) ? 503 : 200 }));
}

/** Answers 503 to the first attempt of the first webhook. Its later attempts wait until the returned function is called. */
function refuseFirst(endpoint: RecordingEndpoint): () => void {
  let answer = () => {};
  const after = new Promise<void>((resolve) => (answer = resolve));
  endpoint.answerWith((request) => {
    if (bodyOf(request).id !== bodyOf(endpoint.requests[0]!).id) return {};
    return request.headers['x-hqrelay-attempt'] === '1' ? { statusCode: 503 } : { after };
  });
  return () => answer();
}

/** Waits for a webhook, and runs the job until it arrives. */
function waitForTurn(endpoint: RecordingEndpoint, { id }: Pick<Accepted, 'id'>): Promise<unknown> {
  return waitFor('the webhook whose turn it is', async () => {
    await world.endTurns();
    return endpoint.requests.some((request) => bodyOf(request).id === id);
  });
}

/** The worker crashes instead of ending its next turn. Returns a function that waits for the crash and starts it again. */
function crashBeforeEnd(): () => Promise<void> {
  const { leaveKey } = world.deps;
  let isCrashed = false;
  world.deps.leaveKey = async () => {
    isCrashed = true;
    return false;
  };
  return async () => {
    await waitFor('the crash', () => isCrashed);
    world.deps.leaveKey = leaveKey;
  };
}

async function turnsOf(endpointId: string): Promise<number> {
  const { rows } = await world.sql.query('select from ordered_deliveries where endpoint_id = $1', [
    endpointId,
  ]);
  return rows.length;
}

async function waitForTurnsToEnd(endpointId: string): Promise<void> {
  await waitFor('all turns to end', async () => {
    await world.endTurns();
    return (await turnsOf(endpointId)) === 0;
  });
}

describe('an ordered endpoint', () => {
  it('a delivery that is retried holds back later ones of its key, and no others', async () => {
    const { endpoint, endpointId, accept } = await seedOrdered({ timeoutMs: 120_000 });
    const answer = refuseFirst(endpoint);
    const first = await accept('a');
    await world.waitForAttempts(first.id, 1);
    const second = await accept('a');
    const third = await accept('a');
    const other = await accept('b');
    await waitFor('the other key', () => arrivals(endpoint, 'b').length > 0);
    expect(arrivals(endpoint, 'b')).toEqual([other.id]);
    for (const { id } of [second, third]) {
      expect(await world.waitForHeld(id)).toMatchObject({ reason: 'order' });
    }
    expect(new Set(arrivals(endpoint, 'a'))).toEqual(new Set([first.id]));

    answer();
    await waitForTurn(endpoint, third);
    expect(arrivals(endpoint, 'a')).toEqual([first.id, first.id, second.id, third.id]);
    await waitForTurnsToEnd(endpointId);
    expect((await world.held()).filter(({ reason }) => reason === 'order')).toEqual([]);
  });

  it('each request carries the sequence of its webhook, the same at every attempt', async () => {
    const { endpoint, accept } = await seedOrdered();
    endpoint.answerWith((_, count) => ({ statusCode: count === 1 ? 503 : 200 }));
    await accept('a');
    await accept('a');
    await endpoint.waitForRequests(3);
    expect(endpoint.requests.map(({ headers }) => headers['x-hqrelay-sequence'])).toEqual(['1', '1', '2']);
  });

  it('messages that arrive in another order are delivered in the order of their acceptance', async () => {
    const { endpoint, draft } = await seedOrdered();
    const webhooks = Array.from({ length: 20 }, () => draft('a'));
    for (const webhook of webhooks) await webhook.record();
    for (const webhook of webhooks.toReversed()) await world.send(webhook.message);
    await waitForTurn(endpoint, webhooks.at(-1)!);
    expect(arrivals(endpoint, 'a')).toEqual(webhooks.map(({ id }) => id));
  });

  it('a message that comes before its row is held until the row is committed', async () => {
    const { endpoint, draft } = await seedOrdered();
    const webhook = draft('a');
    await world.send(webhook.message);
    expect(await world.waitForHeld(webhook.id)).toMatchObject({ reason: 'order' });
    expect(endpoint.requests).toEqual([]);
    await webhook.record();
    await waitForTurn(endpoint, webhook);
  });

  it('after a dead letter the later ones of its key follow', async () => {
    const { endpoint, accept } = await seedOrdered({ retry: '1s' });
    const refused = new Set<string>();
    endpoint.answerWith({ statusCode: 503 });
    const first = await accept('a');
    refused.add(first.id);
    refuse(endpoint, (id) => refused.has(id));
    const second = await accept('a');
    await waitForTurn(endpoint, second);
    expect(arrivals(endpoint, 'a')).toEqual([first.id, first.id, second.id]);
    await world.waitForDeadLetter(first.deliveryId);
  });

  it('after a dead letter of an endpoint that holds, the later ones wait until a replay is delivered', async () => {
    const { projectId, endpointId, endpoint, accept } = await seedOrdered({ retry: '1s' });
    await world.changeEndpoint(projectId, endpointId, "on_dead_letter = 'hold'");
    endpoint.answerWith({ statusCode: 503 });
    const first = await accept('a');
    const second = await accept('a');
    await world.waitForDeadLetter(first.deliveryId);
    await world.waitForHeld(second.id);
    endpoint.answerWith({ statusCode: 200 });
    const other = await accept('b');
    await waitFor('the other key', () => arrivals(endpoint, 'b').includes(other.id));
    await world.endTurns();
    expect(arrivals(endpoint, 'a')).not.toContain(second.id);

    // As a replay of it is recorded.
    await world.sql.query(
      `insert into delivery_attempts (id, delivery_id, webhook_log_id, project_id, endpoint_id, lane, attempt_num, status,
         latency_ms, correlation_id, attempted_at)
       values ($4, gen_random_uuid(), $1, $2, $3, 'replay', 1, 'delivered', 1, 'test', $5)`,
      [first.id, projectId, endpointId, second.id, new Date(timeOfId(second.id))],
    );
    await waitForTurn(endpoint, second);
  });

  it('an endpoint whose key was removed delivers those that wait in their order', async () => {
    const { projectId, endpointId, endpoint, accept } = await seedOrdered({ timeoutMs: 120_000 });
    const answer = refuseFirst(endpoint);
    const first = await accept('a');
    const second = await accept('a');
    await world.waitForHeld(second.id);
    await world.changeEndpoint(projectId, endpointId, 'ordering_key = null');
    answer();
    await waitForTurn(endpoint, second);
    expect(arrivals(endpoint, 'a').indexOf(second.id)).toBeGreaterThan(
      arrivals(endpoint, 'a').lastIndexOf(first.id),
    );
  });
});

describe('a crash of a worker', () => {
  it('a redelivered message whose attempt is recorded ends the turn that the crashed worker left open', async () => {
    const { endpoint, endpointId, draft } = await seedOrdered();
    const [first, second] = [draft('a'), draft('a')] as const;
    await first.record();
    await second.record();
    const restart = crashBeforeEnd();
    await world.send(first.message);
    await world.waitForAttempts(first.id, 1);
    await restart();
    await world.send(second.message);
    await world.waitForHeld(second.id);
    expect(await world.redeliver(first.message)).toBe('ack');
    await waitFor('the second', () => arrivals(endpoint, 'a').includes(second.id));
    expect(arrivals(endpoint, 'a')).toEqual([first.id, second.id]);
    await waitForTurnsToEnd(endpointId);
  });

  it('a turn that no message ends is ended by the job', async () => {
    const { endpoint, draft } = await seedOrdered();
    const [first, second] = [draft('a'), draft('a')] as const;
    await first.record();
    await second.record();
    const restart = crashBeforeEnd();
    await world.send(first.message);
    await world.waitForAttempts(first.id, 1);
    await restart();
    await world.send(second.message);
    await world.waitForHeld(second.id);
    await waitForTurn(endpoint, second);
    expect(arrivals(endpoint, 'a')).toEqual([first.id, second.id]);
  });

  it('a duplicate of a delivery that another worker posts waits for its claim', async () => {
    const { endpoint, draft } = await seedOrdered({ timeoutMs: 1_000 });
    const webhook = draft('a');
    await webhook.record();
    const claimUntil = (time: string) =>
      world.sql.query(
        `update ordered_deliveries set claimed_attempt = 1, claimed_until = ${time} where delivery_id = $1`,
        [webhook.deliveryId],
      );
    await claimUntil("now() + interval '1 hour'");
    await world.send(webhook.message);
    await waitFor('the delay', () => world.publishedOf(webhook.id).length > 0);
    expect(endpoint.requests).toEqual([]);
    await claimUntil("now() - interval '1 second'");
    await endpoint.waitForRequests(1);
  });

  it('a worker that was frozen after its claim does not post the delivery', async () => {
    const { endpoint, accept } = await seedOrdered();
    const { askForTurn, monotonicNow } = world.deps;
    let asked = 0;
    world.deps.askForTurn = async (request) => {
      const answer = await askForTurn(request);
      asked += 1;
      // The process is frozen for longer than it may take from its claim to its request.
      if (asked === 1) world.deps.monotonicNow = () => monotonicNow() + 3_100;
      return asked === 1 ? answer : { kind: 'ended' };
    };
    await accept('a');
    await waitFor('the requeued message', () => asked > 1);
    Object.assign(world.deps, { askForTurn, monotonicNow });
    expect(endpoint.requests).toEqual([]);
  });
});

describe('a dead letter of an endpoint that holds', () => {
  it('a dead letter that is cancelled lets the later ones of its key follow', async () => {
    const { projectId, endpointId, endpoint, accept } = await seedOrdered({ retry: '1s' });
    await world.changeEndpoint(projectId, endpointId, "on_dead_letter = 'hold'");
    endpoint.answerWith({ statusCode: 503 });
    const first = await accept('a');
    const second = await accept('a');
    await world.waitForDeadLetter(first.deliveryId);
    await world.waitForHeld(second.id);
    endpoint.answerWith({ statusCode: 200 });
    await world.sql.query(
      `insert into delivery_decisions (delivery_id, webhook_log_id, endpoint_id, project_id, cancelled_at)
       values ($1, $2, $3, $4, now())`,
      [first.deliveryId, first.id, endpointId, projectId],
    );
    // Its last attempt may be in flight until its claim is over.
    await world.sql.query(
      "update ordered_deliveries set claimed_until = now() - interval '1 second' where delivery_id = $1",
      [first.deliveryId],
    );
    await waitForTurn(endpoint, second);
  });
});
