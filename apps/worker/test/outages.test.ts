import type { HoldReason } from '@hqrelay/db/queries/held-deliveries';
import { deliveryId, timeOfId } from '@hqrelay/domain/ids';
import { decodeMessage } from '@hqrelay/queue/messages';
import { freshId } from '@hqrelay/testing/fresh-id';
import { waitFor } from '@hqrelay/testing/wait-for';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { dispatch } from '../src/delivery/dispatch.ts';
import { drainOutbox } from '../src/jobs/drain-outbox.ts';
import { drainSpilledAudit } from '../src/jobs/drain-spilled-audit.ts';
import { hold } from '../src/outgoing/hold.ts';
import { acceptingAt } from './ordered-webhooks.ts';
import { openWorkerWorld } from './worker-world.ts';

const world = await openWorkerWorld({ own: ['postgres', 'rabbitmq'] });

/** A project that the worker has cached, so that it can deliver without Postgres. */
async function cachedProject(retry: string) {
  const { projectId, endpoints } = await world.seed({ retry });
  const { id: endpointId, endpoint } = endpoints[0]!;
  const first = freshId();
  await world.send(world.message(projectId, { id: first, endpointIds: [endpointId] }));
  await world.waitForAttempts(first, 1);
  return { projectId, endpointId, endpoint };
}

const drainAudit = () =>
  drainSpilledAudit({
    postgres: world.postgres,
    connection: world.publishing,
    publisher: world.publisher,
  });

async function withoutPostgres(work: () => Promise<void>): Promise<void> {
  await world.servers.postgres!.stop();
  try {
    await waitFor('the worker to report Postgres as down', () => !world.postgres.health.isUp);
    await work();
  } finally {
    await world.servers.postgres!.start();
    await world.waitUntilUp();
  }
}

/** Postgres answers, but takes nothing into the outbox in time. */
async function withoutOutbox(work: () => Promise<void>): Promise<void> {
  const locked = await world.sql.connect();
  try {
    await locked.query('begin; lock table outbox');
    await work();
  } finally {
    await locked.query('rollback');
    locked.release();
  }
}

describe('while Postgres is stopped', () => {
  it('webhooks are delivered and retried while Postgres is stopped, and their attempts recorded later', async () => {
    const { projectId, endpointId, endpoint } = await cachedProject('1s');
    const failing = freshId();
    const fine = freshId();
    endpoint.answerWith(({ headers }) => ({
      statusCode: headers['webhook-id'] === failing && headers['x-hqrelay-attempt'] === '1' ? 500 : 200,
    }));
    await withoutPostgres(async () => {
      await world.send(world.message(projectId, { id: fine, endpointIds: [endpointId] }));
      await world.send(world.message(projectId, { id: failing, endpointIds: [endpointId] }));
      await endpoint.waitForRequests(4);
    });

    await waitFor('the rows to be written', async () => {
      await drainAudit();
      return (await world.attemptsOf(failing)).length === 2 && (await world.attemptsOf(fine)).length === 1;
    });
    expect(await world.attemptsOf(failing)).toMatchObject([
      { attempt_num: 1, status: 'failed' },
      { attempt_num: 2, status: 'delivered' },
    ]);
    expect(endpoint.requests).toHaveLength(4);
  });

  it('a delivery that cannot be held is delayed by as long again as it is overdue, or five minutes where its endpoint is disabled', async () => {
    const { projectId, endpointId } = await cachedProject('1s');
    const id = freshId();
    const first = { deliveryId: deliveryId(id, endpointId), endpointId, attemptNum: 1, notBefore: 0 };
    const delivery = { ...first, lane: 'live' as const };
    const decoded = decodeMessage(world.message(projectId, { id, endpointIds: [endpointId], delivery }));
    const { envelope, body } = (decoded as Extract<typeof decoded, { kind: 'message' }>).message;
    const holdFor = (reason: HoldReason) =>
      hold(world.deps, { envelope: { ...envelope, delivery }, body }, reason, 0);
    await withoutPostgres(async () => {
      world.clock.stoppedAt = timeOfId(id);
      await holdFor('paused');
      await holdFor('breaker');
      await holdFor('disabled');
      world.clock.aheadMs = 40_000;
      await holdFor('paused');
      Object.assign(world.clock, { stoppedAt: undefined, aheadMs: 0 });
    });
    const exchanges = world.publishedOf(id).map(({ exchange }) => exchange);
    expect(exchanges.slice(0, 2)).toEqual(['hqrelay.delay.2s', 'hqrelay.delay.2s']);
    expect(exchanges).toEqual(expect.arrayContaining(['hqrelay.delay.5m', 'hqrelay.delay.30s']));
  });

  it('an endpoint that answers 410 while Postgres is stopped is disabled by its 410 five minutes later', async () => {
    const { projectId, endpointId, endpoint } = await cachedProject('1s');
    endpoint.answerWith({ statusCode: 410 });
    const id = freshId();
    await withoutPostgres(async () => {
      await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
      await waitFor('it to wait in a delay queue', () => world.publishedOf(id).length === 1);
      expect(world.publishedOf(id)).toMatchObject([{ attemptNum: 2, exchange: 'hqrelay.delay.5m' }]);
      expect(endpoint.requests).toHaveLength(2);
    });
    const { body } = world.published.findLast(({ exchange }) => exchange === 'hqrelay.delay.5m')!;
    await waitFor('the row of the first attempt', async () => {
      await drainAudit();
      return (await world.attemptsOf(id)).length === 1;
    });
    // The message that the delay queue returns after five minutes.
    const decoded = decodeMessage(body);
    expect(decoded.kind).toBe('message');
    await world.send(body, 'hqrelay.retries');
    expect(await world.waitForHeld(id)).toMatchObject({ reason: 'disabled' });
    const { rows } = await world.sql.query('select enabled from endpoints where id = $1', [endpointId]);
    expect(rows).toEqual([{ enabled: false }]);
  });
});

describe('while RabbitMQ is down', () => {
  it('the next attempt waits in the outbox while RabbitMQ is down, once, and is made when it is back', async () => {
    const { projectId, endpointId, endpoint } = await cachedProject('1s');
    const id = freshId();
    let answer = () => {};
    const after = new Promise<void>((resolve) => (answer = resolve));
    endpoint.answerWith(({ headers }) =>
      headers['webhook-id'] === id && headers['x-hqrelay-attempt'] === '1' ? { statusCode: 500, after } : {},
    );
    await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    await endpoint.waitForRequests(2);

    await world.servers.rabbitmq!.kill();
    answer();
    await world.waitForAttempts(id, 1);
    await waitFor('the next attempt to be in the outbox', async () => {
      const { rows } = await world.sql.query<{ message: Buffer }>('select message from outbox');
      const decoded = rows.map(({ message }) => decodeMessage(message));
      // A busy broker may have confirmed the messages of earlier tests too late: then they are here as well.
      const own = decoded.flatMap((each) =>
        each.kind === 'message' && each.message.envelope.id === id ? [each.message.envelope] : [],
      );
      expect(own).toMatchObject([{ delivery: { attemptNum: 2 } }]);
      return true;
    });

    await world.servers.rabbitmq!.start();
    await world.waitUntilUp();
    await waitFor('the second attempt', async () => {
      await drainOutbox({ postgres: world.postgres, publisher: world.publisher });
      return (await world.attemptsOf(id)).length === 2;
    });
    const attempts = await world.attemptsOf(id);
    expect(attempts).toMatchObject([
      { attempt_num: 1, status: 'failed' },
      { attempt_num: 2, status: 'delivered' },
    ]);
    expect(attempts[1]!.attempted_at.getTime()).toBeGreaterThanOrEqual(
      attempts[0]!.next_attempt_at!.getTime(),
    );
    const { rows } = await world.sql.query('select from outbox');
    expect(rows).toHaveLength(0);
    // The broker redelivers the first attempt after its restart. It is recorded, so it is not posted again.
    expect(endpoint.requests.filter(({ headers }) => headers['x-hqrelay-attempt'] === '1')).toHaveLength(2);
  });

  it('a webhook in flight when RabbitMQ restarts is delivered, and the worker consumes again', async () => {
    const { projectId, endpointId, endpoint } = await cachedProject('1s');
    endpoint.answerWith({ delayMs: 500 });
    const ids = Array.from({ length: 20 }, () => freshId());
    for (const id of ids) await world.send(world.message(projectId, { id, endpointIds: [endpointId] }));
    await endpoint.waitForRequests(2);
    await world.servers.rabbitmq!.kill();
    await world.servers.rabbitmq!.start();
    await world.waitUntilUp();
    for (const id of ids) {
      expect(await world.waitForAttempts(id, 1)).toMatchObject([{ status: 'delivered', attempt_num: 1 }]);
    }
    expect(world.errors()).toEqual([]);
  });
});

describe('while RabbitMQ is frozen', () => {
  it('a webhook whose fan-out neither RabbitMQ nor the outbox takes in time is delivered once to each endpoint', async () => {
    const { projectId, endpoints } = await world.seed({}, {});
    const endpointIds = endpoints.map(({ id }) => id);
    const first = freshId();
    await world.send(world.message(projectId, { id: first, endpointIds }));
    await world.waitForAttempts(first, 2);

    const id = freshId();
    const content = world.message(projectId, { id, endpointIds });
    await withoutOutbox(async () => {
      world.servers.rabbitmq!.freeze();
      const message = { content, redelivered: false, entrance: world.entrance, isLive: true };
      const verdict = dispatch(world.deps, message);
      // RabbitMQ takes both messages from its sockets when it runs again, after their publisher has given them up.
      await setTimeout(2_500);
      world.servers.rabbitmq!.thaw();
      expect(await verdict).toBe('ack');
    });

    await world.waitForAttempts(id, 2);
    await world.waitUntilUp();
    // The copies are in the queue before this webhook.
    const last = freshId();
    await world.send(world.message(projectId, { id: last, endpointIds }));
    await world.waitForAttempts(last, 2);
    expect(world.publishedOf(id).length).toBeGreaterThan(2);
    for (const { endpoint } of endpoints) {
      expect(endpoint.requests.map(({ headers }) => headers['webhook-id'])).toEqual([first, id, last]);
    }
  });
});

describe('ordered webhooks that were accepted while Postgres was stopped', () => {
  it('they wait until all of them are recorded, and are delivered in the order of their acceptance', async () => {
    const { projectId, endpoints } = await world.seed({ retry: '1s', orderingKey: '/key' });
    const { id: endpointId, endpoint } = endpoints[0]!;
    const { draft, accept } = acceptingAt(world, projectId, endpointId);
    await accept('a');
    await endpoint.waitForRequests(1);
    const spilled = [draft('a'), draft('a')] as const;
    await withoutPostgres(async () => {
      for (const { message } of spilled) await world.send(message);
      await waitFor('both to be delayed', () =>
        spilled.every(({ id }) => world.publishedOf(id).some(({ exchange }) => exchange.includes('delay'))),
      );
    });
    // The drain of spilled rows, which has no order.
    await spilled[1].record(true, 2);
    await spilled[0].record(true, 1);
    const behind = await accept('a');
    await waitFor('all three to be held', async () => {
      const held = (await world.held()).filter(({ reason }) => reason === 'order');
      return held.length === 3;
    });
    expect(await world.jobs.sequenceWebhooks.run()).toBe(0);
    expect(endpoint.requests).toHaveLength(1);
    await waitFor('the key to be sequenced', async () => {
      await drainAudit();
      world.clock.aheadMs += 1_000;
      return (await world.jobs.sequenceWebhooks.run()) > 0;
    });
    // A statement that ends a turn may time out on a busy machine; then the job ends it.
    await waitFor('all three to be delivered', async () => {
      await world.endTurns();
      return endpoint.requests.length === 4;
    });
    const ids = endpoint.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids.slice(1)).toEqual([spilled[0].id, spilled[1].id, behind.id]);
  });
});
