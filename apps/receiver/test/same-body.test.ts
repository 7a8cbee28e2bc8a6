import { hash } from 'node:crypto';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import { genericTimestampScheme } from '@hqrelay/domain/providers/generic';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook, type ProviderAnswer, signInbound } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const body = '{"event":"payment.captured"}';
const world = await openReceiverWorld();

const post = (project: SeededProject, webhookId: string, sent: string = body) =>
  postWebhook(world.url, project, { webhookId, body: sent });

function expectReplayOf(first: ProviderAnswer, again: ProviderAnswer): void {
  expect(first.statusCode).toBe(202);
  expect(again.statusCode).toBe(202);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
}

describe('the same body under another id', () => {
  it('the same body under another id is a new webhook by default', async () => {
    const project = await seedProject(world);
    const [first, other] = [await post(project, 'evt_1'), await post(project, 'evt_2')];
    expect(other.body.id).not.toBe(first.body.id);
    expect(other.headers.get('idempotent-replayed')).toBeNull();
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(2);
  });

  it('with same_body duplicate, a body gets the same answer again and a row that names the first webhook', async () => {
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

  it('with same_body duplicate, a body is a duplicate whether or not its requests name an id', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const first = await postWebhook(world.url, project, { body });
    expectReplayOf(first, await post(project, 'evt_1'));
    const other = await post(project, 'evt_2', '{"n":2}');
    expectReplayOf(other, await postWebhook(world.url, project, { body: '{"n":2}' }));
  });

  it('with same_body duplicate, an empty body is a duplicate of another', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const sendEmpty = (webhookId: string) =>
      postWebhook(world.url, project, { webhookId, body: '', headers: { 'content-type': 'text/plain' } });
    const first = await sendEmpty('evt_1');
    expectReplayOf(first, await sendEmpty('evt_2'));
  });

  it('with same_body duplicate, a body that is signed with a newer timestamp is a duplicate', async () => {
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

  it('with same_body duplicate, the same body in another project is a new webhook', async () => {
    const [one, other] = [
      await seedProject(world, { sameBody: 'duplicate' }),
      await seedProject(world, { sameBody: 'duplicate' }),
    ];
    const first = await post(one, 'evt_1');
    const second = await post(other, 'evt_2');
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('a duplicate by its body leaves its id free for another body', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    await post(project, 'evt_1');
    await post(project, 'evt_2');
    const other = await post(project, 'evt_2', '{"n":2}');
    expect(other.statusCode).toBe(202);
    expect(other.headers.get('idempotent-replayed')).toBeNull();
  });

  it.each(['reject', 'duplicate'] as const)(
    'a body that was not accepted under a taken id is a new webhook under its own id (on conflict: %s)',
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

  it('a duplicate by its body is found in Postgres when Redis has lost it, and leaves its id free', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const first = await post(project, 'evt_1');
    await world.forgetInRedis(project.id);
    expectReplayOf(first, await post(project, 'evt_2'));
    expectReplayOf(first, await post(project, 'evt_3'));
    expect((await post(project, 'evt_2', '{"n":2}')).headers.get('idempotent-replayed')).toBeNull();
    expect(await world.logsOf(project.id, 'queued')).toHaveLength(2);
  });

  it('a duplicate by its body makes a webhook that Redis has lost durable again, under the first id', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    const first = await post(project, 'evt_1');
    await world.forgetInRedis(project.id);
    expectReplayOf(first, await post(project, 'evt_2'));
    expect(await world.logsOf(project.id, 'queued')).toMatchObject([{ id: first.body.id }]);
  });

  it('with same_body duplicate, a body takes over the webhook of a failed request, under its id', async () => {
    const project = await seedProject(world, { sameBody: 'duplicate' });
    const id = freshId();
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
  it('a change of same_body takes effect within a second of its announcement', async () => {
    const project = await seedProject(world);
    await post(project, 'evt_1');
    await world.sql.query(`update projects set same_body = 'duplicate' where id = $1`, [project.id]);
    await announceProjectChange(world.redis, project.id);
    const { undisturbedMs } = await measureUndisturbed(() =>
      waitFor('a duplicate', async () => {
        const sent = `{"n":"${freshId()}"}`;
        await post(project, freshId(), sent);
        return (await post(project, freshId(), sent)).headers.has('idempotent-replayed');
      }),
    );
    expect(undisturbedMs).toBeLessThan(1_000);
  });
});
