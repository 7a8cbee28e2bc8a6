import { announceProjectChange } from '@hqrelay/cache/project-config';
import { insertProject } from '@hqrelay/db/queries/projects';
import { revokeProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { parseSecretKeys, seal } from '@hqrelay/domain/secrets/secret-box';
import { freshId } from '@hqrelay/testing/fresh-id';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedEndpoint, seedProject, type SeededProject, seedSecret } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { describe, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();

describe('a change of a project', () => {
  it('a revoked secret is refused within a second of the announcement', async () => {
    const project = await cachedProject();
    const { rows } = await world.sql.query<{ id: string }>(
      'select id from project_secrets where project_id = $1',
      [project.id],
    );
    await revokeProjectSecret(world.sql, rows[0]!.id);
    await expectWithinASecond(project, 401);
  });

  it('a rotated secret is accepted within a second, and the old secret until its overlap ends', async () => {
    const project = await cachedProject();
    const rotated = { ...project, secret: newSigningSecret() };
    const newest = await seedSecret(world, { projectId: project.id, secret: rotated.secret });
    await expectWithinASecond(rotated, 202);
    expect((await postWebhook(world.url, project)).statusCode).toBe(202);
    await world.sql.query(
      "update project_secrets set expires_at = now() + interval '1 second' where project_id = $1 and id <> $2",
      [project.id, newest],
    );
    await announceProjectChange(world.redis, project.id);
    await waitFor(
      'the old secret to expire',
      async () => (await postWebhook(world.url, project)).statusCode === 401,
    );
    expect((await postWebhook(world.url, rotated)).statusCode).toBe(202);
  });

  it('a disabled project is refused within a second, and accepted within a second when it is enabled', async () => {
    const project = await cachedProject();
    await world.sql.query('update projects set enabled = false where id = $1', [project.id]);
    await expectWithinASecond(project, 401);
    await world.sql.query('update projects set enabled = true where id = $1', [project.id]);
    await expectWithinASecond(project, 202);
  });

  it('a new endpoint is owed webhooks within a second of the announcement', async () => {
    const project = await cachedProject();
    const { id } = await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook' });
    await announceProjectChange(world.redis, project.id);
    const { undisturbedMs } = await measureUndisturbed(() =>
      waitFor('a webhook that is owed to the endpoint', async () => {
        const { body } = await postWebhook(world.url, project, { webhookId: freshId() });
        const row = (await world.logsOf(project.id, 'queued')).find((each) => each.id === body.id);
        return row?.endpoint_ids.includes(id);
      }),
    );
    expect(undisturbedMs).toBeLessThan(1_000);
  });

  it('a new project is accepted within a second, although the receiver has refused its id before', async () => {
    const project: SeededProject = { id: freshId(), secret: newSigningSecret(), requireTimestamp: false };
    expect((await postWebhook(world.url, project)).statusCode).toBe(401);
    await insertProject(world.sql, {
      id: project.id,
      provider: 'generic',
      settings: {
        name: 'new',
        rateLimitPerMinute: null,
        idempotencyTtlSeconds: 86_400,
        onConflict: 'reject',
        requireTimestamp: false,
        sameBody: 'accept',
        scheme: null,
        searchKeys: [],
        sealedSettings: null,
        settingsKeyId: null,
        enabled: true,
      },
      secret: sealed(project.secret),
    });
    await expectWithinASecond(project, 202);
  });
});

describe('the endpoints of a webhook', () => {
  it('a webhook is owed to the endpoints that are enabled and take its event type when it is accepted', async () => {
    const project = await seedProject(world);
    const add = async (eventTypes: string[]) =>
      (await seedEndpoint(world, project.id, { url: 'http://127.0.0.1:9/hook', eventTypes })).id;
    const [all, payments, exact, orders, disabled] = [
      await add([]),
      await add(['payment.*', 'refund.*']),
      await add(['payment.captured']),
      await add(['order.*']),
      await add([]),
    ];
    await world.sql.query('update endpoints set enabled = false where id = $1', [disabled]);
    const owed = async (eventType: string) => {
      const { body } = await postWebhook(world.url, project, {
        webhookId: eventType,
        headers: { 'x-event-type': eventType },
      });
      const row = (await world.logsOf(project.id, 'queued')).find((each) => each.id === body.id);
      return new Set(row?.endpoint_ids);
    };
    expect(await owed('payment.captured')).toEqual(new Set([all, payments, exact]));
    expect(await owed('order.paid')).toEqual(new Set([all, orders]));
    expect(await owed('paymentx')).toEqual(new Set([all]));
  });
});

/** A project that the receiver has just looked up. */
async function cachedProject(): Promise<SeededProject> {
  const project = await seedProject(world);
  expect((await postWebhook(world.url, project)).statusCode).toBe(202);
  return project;
}

async function expectWithinASecond(project: SeededProject, statusCode: number): Promise<void> {
  await announceProjectChange(world.redis, project.id);
  const { undisturbedMs } = await measureUndisturbed(() =>
    waitFor(
      `answers ${statusCode}`,
      async () => (await postWebhook(world.url, project, { webhookId: freshId() })).statusCode === statusCode,
    ),
  );
  expect(undisturbedMs).toBeLessThan(1_000);
}

function sealed(secret: string) {
  const id = freshId();
  return { id, ...seal(parseSecretKeys(world.secretsKey), secret, `project_secrets:${id}`) };
}
