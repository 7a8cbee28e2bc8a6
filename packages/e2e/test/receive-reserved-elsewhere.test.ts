import { hash } from 'node:crypto';
import { connectRedis } from '@hqrelay/cache/connect-redis';
import { BrokerConnection } from '@hqrelay/queue/connection/broker-connection';
import { decodeMessage } from '@hqrelay/queue/messages';
import type { RunningServer } from '@hqrelay/services/running-server';
import { startApp, type AppProcess } from '@hqrelay/testing/app-process';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openApp, openWorld } from './open-world.ts';

const body = '{"event":"payment.captured"}';

const world = await openWorld({ own: ['postgres'] });
const postgres = world.servers.postgres as RunningServer;
const redis = connectRedis(world.redisUrl, 'test');
afterAll(() => redis.disconnect());
await redis.connect();
const receiver = await openApp('receiver', world.env);
await waitForStore(receiver, 'rabbitmq');
let project: SeededProject;

beforeEach(async () => {
  project = await seedProject(world);
});

/** Writes the id's reservation to Postgres, as a receiver does while Redis is unavailable. */
async function reserveInPostgres(
  state: 'reserved' | 'seen' | 'retryable',
  { of = body, webhookId = 'evt_1' } = {},
): Promise<string> {
  const id = freshId();
  await world.sql.query(
    `insert into idempotency_keys
       (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, now(), now() + interval '1 hour')`,
    [project.id, webhookId, id, hash('sha256', of), state, freshId()],
  );
  return id;
}

/** Deletes the id in Redis, after the receiver has marked it as accepted: the answer does not wait for the mark. */
async function deleteInRedis(): Promise<void> {
  await waitFor('the mark', async () => (await redis.get(redisKey()))?.startsWith('S'));
  await redis.del(redisKey());
}

const redisKey = () => `hqrelay:idempotency:{${project.id}}:evt_1`;

const post = () => postWebhook(receiver.url, project, { webhookId: 'evt_1', body });

describe('an id that Redis does not have and another receiver has reserved in Postgres', () => {
  it('an id that another receiver has reserved in Postgres is answered with the outcome of its request', async () => {
    const id = await reserveInPostgres('reserved');
    const waiting = post();
    // A request that has to wait releases its own key in Redis.
    await waitFor('the request to wait', async () => (await redis.get(redisKey()))?.startsWith('F'));
    await world.sql.query("update idempotency_keys set state = 'seen' where project_id = $1", [project.id]);
    const first = await waiting;
    // On a busy machine the outcome may come later than a request waits for it. Then the provider sends the webhook again.
    const answer = first.statusCode === 503 ? await post() : first;
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect((await post()).text).toBe(answer.text);
  });

  it('an id that another receiver has reserved is not answered 202 while its request is in progress', async () => {
    await reserveInPostgres('reserved');
    const answer = await post();
    expect(answer.statusCode).toBe(503);
    expect(answer.body.error?.code).toBe('webhook.undecided');
  });

  it('a webhook whose reservation another receiver has released is taken over under its id', async () => {
    const id = await reserveInPostgres('retryable');
    const answer = await post();
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(answer.headers.has('idempotent-replayed')).toBe(false);
  });

  it('an id that another receiver has released is free for a webhook with other bytes', async () => {
    const id = await reserveInPostgres('retryable', { of: '{"other":"bytes"}' });
    const answer = await post();
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).not.toBe(id);
  });
});

it('a webhook that a second request takes over owes the endpoints of its first request', async () => {
  const first = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/first' });
  const { id } = (await post()).body;
  await deleteInRedis();
  await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/second' });
  await redis.publish('hqrelay:projectConfig:changed', project.id);
  await redis.del(`hqrelay:projectConfig:{${project.id}}`);

  const again = await post();
  expect(again.body.id).toBe(id);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  const owed: string[][] = [];
  const broker = new BrokerConnection({ urls: [world.rabbitmqUrl], name: 'test', onChange: () => {} });
  broker.start();
  await waitFor('RabbitMQ', () => broker.health.isUp);
  await broker.pull('hqrelay.webhooks', async (content) => {
    const decoded = decodeMessage(content);
    if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
    if (decoded.message.envelope.id === id) owed.push(decoded.message.envelope.endpointIds);
  });
  await broker.stop();
  expect(owed).toEqual([[first.id], [first.id]]);
});

it('a receiver that started while Postgres was down recognises ids that were reserved without Redis', async () => {
  const webhookIds = Array.from({ length: 50 }, (_, n) => `evt_${n}`);
  const reserved = new Map<string, string>();
  for (const webhookId of webhookIds) reserved.set(webhookId, await reserveInPostgres('seen', { webhookId }));
  // The project's epoch says that Redis has all its ids, and these ids are missing.
  await redis.set(`hqrelay:epoch:{${project.id}}`, '0');
  await postgres.stop();
  const late = await startApp('receiver', { env: world.env });
  try {
    await late.waitUntilReady();
    await postgres.start();
    await waitForStore(late, 'postgres');
    const unused = webhookIds.values();
    // A look-up in a Postgres that has just started may time out, and the webhook is then accepted as a new one.
    const answer = await waitFor('an id that is recognised', async () => {
      const { value: webhookId = '' } = unused.next();
      const { headers, body: answered } = await postWebhook(late.url, project, { webhookId, body });
      return headers.has('idempotent-replayed') && { webhookId, id: answered.id };
    });
    expect(answer.id).toBe(reserved.get(answer.webhookId));
  } finally {
    await late.end();
  }
});

/** Waits until the receiver reports the store as up. */
async function waitForStore(of: AppProcess, name: 'postgres' | 'rabbitmq'): Promise<void> {
  await waitFor(name, async () => {
    const { dependencies } = (await (await fetch(`${of.url}/health/ready`)).json()) as {
      dependencies: Record<string, { state: string }>;
    };
    return dependencies[name]?.state === 'up';
  });
}
