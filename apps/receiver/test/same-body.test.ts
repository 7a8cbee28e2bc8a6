import { hash } from 'node:crypto';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { newId } from '@hqrelay/domain/ids';
import { genericTimestampScheme, signInbound } from '@hqrelay/domain/inbound/signature';
import { postWebhook, type ProviderAnswer } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiverWorld, type ReceiverWorld } from './receiver-world.ts';

const body = '{"event":"payment.captured"}';
let world: ReceiverWorld;

beforeAll(async () => {
  world = await startReceiverWorld();
});

afterAll(() => world.close());

const post = (project: SeededProject, webhookId: string, sent: string = body) =>
  postWebhook(world.url, project, { webhookId, body: sent });

function expectReplayOf(first: ProviderAnswer, again: ProviderAnswer): void {
  expect(first.statusCode).toBe(202);
  expect(again.statusCode).toBe(202);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
}

describe('the same body under another id', () => {
  it('is another webhook in a project that accepts it, which is the default', async () => {
    const project = await seedProject(world);
    const [first, other] = [await post(project, 'evt_1'), await post(project, 'evt_2')];
    expect(other.body.id).not.toBe(first.body.id);
    expect(other.headers.get('idempotent-replayed')).toBeNull();
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(2);
  });

  it('gets the same answer in a project that takes it for a duplicate, and a row that says of which webhook', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const first = await post(project, 'evt_1');
    expectReplayOf(first, await post(project, 'evt_2'));
    expect(await world.logsOf(project.id, 'queued')).toMatchObject([
      { id: first.body.id, webhook_id: 'evt_1' },
    ]);
    expect(await world.waitForLogs(project.id, 'duplicate')).toMatchObject([
      { webhook_id: 'evt_2', duplicate_of: first.body.id },
    ]);
  });

  it('is a duplicate whether or not the requests name an id', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const first = await postWebhook(world.url, project, { body });
    expectReplayOf(first, await post(project, 'evt_1'));
    const other = await post(project, 'evt_2', '{"n":2}');
    expectReplayOf(other, await postWebhook(world.url, project, { body: '{"n":2}' }));
  });

  it('is a duplicate when it is empty', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const sendEmpty = (webhookId: string) =>
      postWebhook(world.url, project, { webhookId, body: '', headers: { 'content-type': 'text/plain' } });
    const first = await sendEmpty('evt_1');
    expectReplayOf(first, await sendEmpty('evt_2'));
  });

  it('is a duplicate under a fresh timestamp too', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate', requireTimestamp: true });
    const sendAt = (webhookId: string, now: number) =>
      postWebhook(world.url, project, {
        webhookId,
        body,
        headers: signInbound(genericTimestampScheme, project.secret, { body: Buffer.from(body), now }),
      });
    const first = await sendAt('evt_1', Date.now() - 60_000);
    expectReplayOf(first, await sendAt('evt_2', Date.now()));
  });

  it('is another webhook in another project', async () => {
    const [one, other] = [
      await seedProject(world, { sameBody: 'duplicate' }),
      await seedProject(world, { sameBody: 'duplicate' }),
    ];
    const first = await post(one, 'evt_1');
    const second = await post(other, 'evt_2');
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('does not use up the id that it came under', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    await post(project, 'evt_1');
    await post(project, 'evt_2');
    const other = await post(project, 'evt_2', '{"n":2}');
    expect(other.statusCode).toBe(202);
    expect(other.headers.get('idempotent-replayed')).toBeNull();
  });

  it.each(['reject', 'duplicate'] as const)(
    'is a webhook of its own if it was not accepted where its first id was known with another body (on conflict: %s)',
    async (onConflict) => {
      const project = await seedProject(world, { sameBody: 'duplicate', onConflict });
      await post(project, 'evt_1');
      for (const forget of [false, true]) {
        if (forget) await world.forgetInRedis(project.id);
        const clash = await post(project, 'evt_1', `{"n":"${forget}"}`);
        expect(clash.statusCode).toBe(onConflict === 'reject' ? 409 : 202);
        const own = await waitFor('an answer', async () => {
          const answer = await post(project, `evt_${forget}`, `{"n":"${forget}"}`);
          return answer.statusCode !== 503 && answer;
        });
        expect(own.headers.get('idempotent-replayed')).toBeNull();
        expect(own.statusCode).toBe(202);
      }
    },
  );

  it('is a duplicate for Postgres when Redis has forgotten it, and leaves the id free that it came under', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const first = await post(project, 'evt_1');
    await world.forgetInRedis(project.id);
    expectReplayOf(first, await post(project, 'evt_2'));
    expectReplayOf(first, await post(project, 'evt_3'));
    expect((await post(project, 'evt_2', '{"n":2}')).headers.get('idempotent-replayed')).toBeNull();
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(2);
  });

  it('makes the first webhook durable again, under its id, when Redis has forgotten it and perhaps no message carries it', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    const first = await post(project, 'evt_1');
    await world.forgetInRedis(project.id);
    expectReplayOf(first, await post(project, 'evt_2'));
    expect(await world.logsOf(project.id, 'queued')).toMatchObject([{ id: first.body.id }]);
  });

  it('takes over the webhook of a request that failed, under its id', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const id = newId();
    const sha256 = hash('sha256', body);
    const key = `hqrelay:content:{${project.id}}:body:${sha256}`;
    await world.redis.set(key, ['F', id, sha256, '', await world.redisNow()].join('|'), 'EX', 3_600);
    const answer = await post(project, 'evt_2');
    expect(answer.statusCode).toBe(202);
    expect(answer.body.id).toBe(id);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });
});

describe('a project whose setting changes', () => {
  it('is judged by the new one within a second of the announcement', async () => {
    const project = await seedProject(world);
    await post(project, 'evt_1');
    await world.sql.query(`update projects set same_body = 'duplicate' where id = $1`, [project.id]);
    await announceProjectChange(world.redis, project.id);
    const announcedAt = performance.now();
    await waitFor('a duplicate', async () => {
      const sent = `{"n":"${newId()}"}`;
      await post(project, newId(), sent);
      return (await post(project, newId(), sent)).headers.has('idempotent-replayed');
    });
    expect(performance.now() - announcedAt).toBeLessThan(1_000);
  });
});
