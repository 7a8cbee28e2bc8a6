import { hash, randomUUID } from 'node:crypto';
import { connectRedis } from '@hqrelay/cache/connect-redis';
import type { RunningServer } from '@hqrelay/services/running-server';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook, signAsProvider, type ProviderAnswer } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp, openEndpoint, openWorld } from './open-world.ts';

const world = await openWorld({ own: ['redis'] });
const redis = world.servers.redis as RunningServer;
const endpoint = await openEndpoint();
const [receiver, worker] = await Promise.all([openApp('receiver', world.env), openApp('worker', world.env)]);
await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);

describe('while Redis is', () => {
  beforeAll(() => waitForRedis('up'));

  describe.each([
    ['stopped', () => redis.stop(), () => redis.start()],
    ['frozen', async () => redis.freeze(), async () => redis.thaw()],
  ])('%s', (_name, stop, restart) => {
    let project: SeededProject;
    let limited: SeededProject;
    let bySameBody: SeededProject;
    let acceptedBody: ProviderAnswer;
    const first = new Map<string, ProviderAnswer>();

    /** As a provider does, sends again what is answered 503: a duplicate waits a second for the outcome of the first request. */
    const decided = (send: () => Promise<ProviderAnswer>) =>
      waitFor('an answer', async () => {
        const given = await send();
        return given.statusCode !== 503 && given;
      });

    const post = async (webhookId: string, body = `{"event":"payment.captured","of":"${webhookId}"}`) => {
      const { value: answer, undisturbedMs } = await measureUndisturbed(() =>
        postWebhook(receiver.url, project, { webhookId, body }),
      );
      expect(undisturbedMs).toBeLessThan(2_500);
      return answer;
    };

    beforeAll(async () => {
      project = await seedProject(world);
      limited = await seedProject(world, { rateLimitPerMinute: 3 });
      await postWebhook(receiver.url, limited);
      await seedEndpoint(world, project.id, { url: `${endpoint.url}?${project.id}` });
      first.set('before', await post('before'));
      bySameBody = await seedProject(world, { sameBody: 'duplicate' });
      acceptedBody = await postWebhook(receiver.url, bySameBody, {
        webhookId: 'evt_before',
        body: '{"n":1}',
      });
      await waitFor('the attempt to be recorded', async () => (await attempts()) === 1);
      await stop();
    });

    it('without Redis, webhooks are accepted in time and the rate limit is open', async () => {
      for (const webhookId of ['a', 'b', 'c', 'd', 'e']) first.set(webhookId, await post(webhookId));
      expect([...first.values()].map((answer) => answer.statusCode)).toEqual(Array(6).fill(202));
      expect([...first.values()].some((answer) => answer.headers.has('idempotent-replayed'))).toBe(false);
      expect(await postToLimited()).toEqual([202, 202, 202, 202, 202]);
      await waitForRedis('down');
    });

    it('without Redis, duplicates and conflicts are recognised', async () => {
      for (const [webhookId, answer] of first) {
        const again = await post(webhookId);
        expect(again.text).toBe(answer.text);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
      }
      expect((await post('a', '{"another":"body"}')).statusCode).toBe(409);
    });

    it('without Redis, a captured request with a signed timestamp is a duplicate under another id', async () => {
      const signed = await seedProject(world, { requireTimestamp: true });
      const body = Buffer.from('{"event":"payment.captured"}');
      const send = (webhookId: string, headers: Record<string, string>) =>
        postWebhook(receiver.url, signed, { webhookId, body, headers });
      const signature = signAsProvider(signed, body);
      const answers = [await send('evt_1', signature), await send('evt_2', signature)];
      expect(answers.map((answer) => answer.text)).toEqual([answers[0]?.text, answers[0]?.text]);
      expect(answers[1]?.headers.get('idempotent-replayed')).toBe('true');
    });

    it('without Redis, a body under other ids is one webhook in a project with same_body duplicate', async () => {
      const send = (index: number, body: string) =>
        postWebhook(receiver.url, bySameBody, { webhookId: `evt_${index}`, body });
      const again = await send(0, '{"n":1}');
      expect(again.text).toBe(acceptedBody.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => decided(() => send(index, '{"n":2}'))),
      );
      expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.text}`)).size).toBe(1);
      expect(answers[0]?.statusCode).toBe(202);
      expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
    });

    it('without Redis, fifty requests at once with one id are one webhook', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => decided(() => post('duplicates'))));
      expect(new Set(answers.map((answer) => `${answer.statusCode} ${answer.text}`)).size).toBe(1);
      expect(answers[0]?.statusCode).toBe(202);
      first.set('duplicates', answers[0] as ProviderAnswer);
    });

    it('after an outage of Redis, webhooks accepted without it are recognised and the rate limit applies', async () => {
      await restart();
      await waitForRedis('up');
      // A command that timed out may have run late, and reserved the id for ten seconds.
      for (const [webhookId, answer] of first) {
        for (const _ of [1, 2]) expect((await decided(() => post(webhookId))).text).toBe(answer.text);
      }
      expect((await decided(() => post('a', '{"another":"body"}'))).statusCode).toBe(409);
      await waitFor('the rate limit to close', async () => (await postToLimited()).at(-1) === 429);
    });

    it('each webhook that was accepted before, during and after an outage of Redis is delivered once', async () => {
      const accepted = [...first.values()].map((answer) => answer.body.id);
      const { rows } = await world.sql.query<{ id: string }>(
        "select id from webhook_logs where project_id = $1 and status = 'queued'",
        [project.id],
      );
      expect(rows.map((row) => row.id)).toEqual(expect.arrayContaining(accepted));
      await waitFor('every webhook to be delivered', async () => (await attempts()) === rows.length);
      const delivered = endpoint.requests.filter((each) => each.path.endsWith(project.id));
      expect(delivered).toHaveLength(rows.length);
      expect(new Set(delivered.map((each) => each.headers['webhook-id']))).toEqual(
        new Set(rows.map((row) => row.id)),
      );
    });

    async function postToLimited(): Promise<number[]> {
      const statusCodes = [];
      for (let i = 0; i < 5; i += 1) {
        const answer = await postWebhook(receiver.url, limited, { webhookId: randomUUID() });
        statusCodes.push(answer.statusCode);
      }
      return statusCodes;
    }

    async function attempts(): Promise<number> {
      const { rows } = await world.sql.query('select from delivery_attempts where project_id = $1', [
        project.id,
      ]);
      return rows.length;
    }
  });

  it('every duplicate of a webhook is recognised when Redis has started empty', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const before = await postWebhook(receiver.url, project, { webhookId: 'evt_1' });
    await redis.stop();
    await redis.start();
    await waitForRedis('up');
    // Now Redis has the script for new webhooks, but not yet the one for duplicates that Postgres found.
    await postWebhook(receiver.url, project, { webhookId: 'evt_2', body: '{"n":2}' });
    for (const _ of [1, 2, 3]) {
      const again = await postWebhook(receiver.url, project, { webhookId: 'evt_1' });
      expect(again.text).toBe(before.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
  });

  it('an id that is missing in a Redis that has just connected is looked up in Postgres', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const first = await postWebhook(receiver.url, project, { webhookId: 'evt_1' });
    await redis.stop();
    await redis.start();
    await waitForRedis('up');
    const client = connectRedis(world.redisUrl, 'test');
    await client.connect();
    await client.del(`hqrelay:idempotency:{${project.id}}:evt_1`);
    await client.set(`hqrelay:epoch:{${project.id}}`, '0');
    client.disconnect();
    const again = await postWebhook(receiver.url, project, { webhookId: 'evt_1' });
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('a webhook keeps the id of its first request when Redis stops while a duplicate waits for it', async () => {
    // Again when the duplicate was answered 503: it waits a second at most, which a busy machine may need to stop Redis.
    const { id, answer } = await waitFor('an outcome in time', async () => {
      const stopped = await stopRedisUnderDuplicate();
      return stopped.answer.statusCode !== 503 && stopped;
    });
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
  });

  /** Stops Redis while a duplicate waits for the first request, and starts it again. Returns the id of the first request. */
  async function stopRedisUnderDuplicate(): Promise<{ id: string; answer: ProviderAnswer }> {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const body = '{"event":"payment.captured"}';
    const id = freshId();
    const client = connectRedis(world.redisUrl, 'test');
    await client.connect();
    const key = `hqrelay:idempotency:{${project.id}}:evt_1`;
    await client.set(key, ['P', id, hash('sha256', body), randomUUID(), Date.now()].join('|'));
    const scriptCalls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    const before = await scriptCalls();
    const waiting = postWebhook(receiver.url, project, { webhookId: 'evt_1', body });
    await waitFor('the duplicate to ask Redis twice', async () => (await scriptCalls()) >= before + 2);
    client.disconnect();
    await redis.stop();
    const answer = await waiting;
    await redis.start();
    await waitForRedis('up');
    return { id, answer };
  }

  it('without Redis, a released reservation does not hide a webhook that was accepted before', async () => {
    const project = await seedProject(world);
    await seedEndpoint(world, project.id, { url: endpoint.url });
    const body = '{"event":"payment.captured"}';
    const first = await postWebhook(receiver.url, project, { webhookId: 'evt_1', body });
    await redis.stop();
    await world.sql.query(
      `insert into idempotency_keys
         (project_id, webhook_id, webhook_log_id, payload_sha256, state, token, reserved_at, expires_at)
       values ($1, 'evt_1', $2, $3, 'retryable', $4, now(), now() + interval '1 hour')`,
      [project.id, freshId(), hash('sha256', body), freshId()],
    );
    const again = await postWebhook(receiver.url, project, { webhookId: 'evt_1', body });
    await redis.start();
    await waitForRedis('up');
    expect(first.statusCode).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  /** Waits for the state that the receiver's readiness reports. */
  async function waitForRedis(state: string): Promise<void> {
    await waitFor(`Redis to be ${state}`, async () => {
      const response = await fetch(`${receiver.url}/health/ready`);
      const { dependencies } = (await response.json()) as { dependencies: { redis: { state: string } } };
      return dependencies.redis.state === state;
    });
  }
});
