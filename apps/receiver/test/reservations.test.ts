import { createHash } from 'node:crypto';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { decodeMessage, type Envelope } from '@hqrelay/queue/messages';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { connect } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const body = '{"event":"payment.captured"}';
const world = await openReceiverWorld();

describe('a reservation whose receiver crashed', () => {
  it('a reservation of a crashed receiver is taken over by a retry after ten seconds, under the same id', async () => {
    const project = await seedProject(world);
    const id = await leaveBehind(project, 'P', { ageMs: 10_500 });
    const answer = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(await world.logsOf(project.id, 'queued')).toMatchObject([{ id }]);
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(answer.text);
  });

  it('a reservation of a crashed receiver is not taken over before ten seconds: a retry is answered 503', async () => {
    const project = await seedProject(world);
    await leaveBehind(project, 'P', { ageMs: 0 });
    const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
      postWebhook(world.url, project, { webhookId: 'evt_1', body }),
    );
    expect(undisturbedMs).toBeLessThan(2_500);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-4]$/);
    expect(answer.body.error?.code).toBe('webhook.undecided');
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(0);
    await world.waitForLogs(project.id, 'failed_to_queue');
  });

  it('a reservation that is accepted while a duplicate waits decides the answer to the duplicate', async () => {
    const project = await seedProject(world);
    const id = await leaveBehind(project, 'P', { ageMs: 0 });
    const { asked } = await world.listenFor(key(project));
    const waiting = postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await asked;
    await write(project, 'S', id, 0);
    const answer = await waiting;
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
  });

  it('a webhook that was made durable before its receiver crashed is a duplicate when it is sent again', async () => {
    const project = await seedProject(world);
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    // The receiver was killed after the broker's confirm and the commit, and before it marked the id as accepted.
    await write(project, 'P', first.body.id!, 10_500);
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });
});

describe('a webhook that no store could take', () => {
  it('a webhook that no store could take is taken over at once by a retry, under the same id', async () => {
    const project = await seedProject(world);
    const id = await leaveBehind(project, 'F', { ageMs: 100 });
    const answer = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('a webhook that no store could take does not conflict with another body under its id', async () => {
    const project = await seedProject(world);
    const id = await leaveBehind(project, 'F', { ageMs: 100 });
    const answer = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":2}' });
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).not.toBe(id);
  });
});

describe('a Redis that has lost its data', () => {
  it('a duplicate that Redis has lost is answered from Postgres, and is stored in Redis again', async () => {
    const project = await seedProject(world);
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    for (const _ of [1, 2]) {
      const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
      expect(again.text).toBe(first.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
    await waitFor('the mark in Redis', async () =>
      (await world.redis.get(key(project)))?.startsWith(`S|${first.body.id}|`),
    );
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });

  it('a duplicate is found in Postgres although a failed request left a released key in Redis', async () => {
    const project = await seedProject(world);
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    // Postgres was unavailable too: the provider got a 503 and retries.
    const other = await leaveBehind(project, 'F', { ageMs: 100 });
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(again.text).toBe(first.text);
    expect(again.body.id).not.toBe(other);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });

  it('a webhook with an accepted id and another body is answered 409 after Redis has lost its data', async () => {
    const project = await seedProject(world);
    await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    const other = await postWebhook(world.url, project, { webhookId: 'evt_1', body: '{"amount":2}' });
    expect(other.statusCode).toBe(409);
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('another body under an accepted id is answered 503 when its first message may not exist', async () => {
    const project = await seedProject(world, { onConflict: 'duplicate' });
    await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    const other = await postWebhook(world.url, project, { webhookId: 'evt_1', body: `${body} ` });
    expect(other.statusCode).toBe(503);
    expect(other.body.error?.code).toBe('webhook.undecided');
    await world.forgetInRedis(project.id);
    const same = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(same.statusCode).toBe(202);
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
  });

  it('a duplicate makes the webhook durable again when Redis has lost it, under its id and with one row', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    await world.forgetInRedis(project.id);
    const again = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const third = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    expect(third.text).toBe(first.text);
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(1);
    await world.waitForLogs(project.id, 'duplicate', 2);
  });

  it('a webhook that is made durable again owes the endpoints of its first acceptance, not one that was added since', async () => {
    const project = await seedProject(world);
    const owed = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    const first = await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    const added = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/added' });
    await announceProjectChange(world.redis, project.id);
    await waitFor('a webhook that is owed to the added endpoint', async () => {
      const { body: answer } = await postWebhook(world.url, project, { webhookId: freshId() });
      return (await world.logsOf(project.id))
        .find(({ id }) => id === answer.id)
        ?.endpoint_ids.includes(added.id);
    });
    await world.forgetInRedis(project.id);
    await postWebhook(world.url, project, { webhookId: 'evt_1', body });
    const published = (await takePublished()).filter(({ id }) => id === first.body.id);
    expect(published.map(({ endpointIds }) => endpointIds)).toEqual([[owed.id], [owed.id]]);
  });
});

/** Takes the messages of all webhooks from their queue. */
async function takePublished(): Promise<Envelope[]> {
  const model = await connect(world.rabbitmqUrl);
  try {
    const channel = await model.createChannel();
    const taken: Envelope[] = [];
    for (;;) {
      const message = await channel.get('hqrelay.webhooks', { noAck: true });
      if (!message) return taken;
      const decoded = decodeMessage(message.content);
      if (decoded.kind === 'message') taken.push(decoded.message.envelope);
    }
  } finally {
    await model.close();
  }
}

const key = (project: SeededProject) => `hqrelay:idempotency:{${project.id}}:evt_1`;

/** Writes the reservation that a killed or failed receiver leaves in Redis. Returns the id in it. */
async function leaveBehind(
  project: SeededProject,
  state: 'P' | 'F',
  { ageMs }: { ageMs: number },
): Promise<string> {
  const id = freshId();
  await write(project, state, id, ageMs);
  return id;
}

async function write(
  project: SeededProject,
  state: 'P' | 'F' | 'S',
  id: string,
  ageMs: number,
): Promise<void> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  const at = (await world.redisNow()) - ageMs;
  await world.redis.set(
    key(project),
    [state, id, sha256, state === 'P' ? freshId() : '', at].join('|'),
    'EX',
    3_600,
  );
}
