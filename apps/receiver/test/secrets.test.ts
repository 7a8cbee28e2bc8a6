import { announceProjectChange, ConfigCache } from '@hqrelay/cache/project-config';
import { Cache } from '@hqrelay/cache/client';
import { readProjectConfig } from '@hqrelay/db/queries/project-config';
import { listProjectSecrets, revokeProjectSecret } from '@hqrelay/db/queries/project-secrets';
import { newSigningSecret } from '@hqrelay/domain/delivery/outbound-signing';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { freshId } from '@hqrelay/testing/fresh-id';
import { startApp } from '@hqrelay/testing/app-process';
import { postWebhook } from '@hqrelay/testing/provider';
import { seedProject, type SeededProject, seedSecret } from '@hqrelay/testing/seed';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterAll, expect, it } from 'vitest';
import { openReceiverWorld } from './receiver-world.ts';

const world = await openReceiverWorld();
const other = await startApp('receiver', { env: world.env });
await other.waitUntilReady();
const cache = new Cache({ url: world.redisUrl, name: 'test', onChange: () => {} });
cache.start();
afterAll(async () => {
  await other.end();
  await cache.close();
});

it('a project with four active secrets takes webhooks signed with each, and the list shows when each verified one', async () => {
  const project = await seedProject(world);
  const all = [project.secret];
  for (let i = 0; i < 3; i += 1) all.push(await rotate(project));
  for (const secret of all)
    await waitFor('a 202', async () => (await post({ ...project, secret }, world.url)) === 202);
  const listed = await waitFor('the times of all secrets', async () => {
    const secrets = await listProjectSecrets(world.sql, project.id);
    return secrets.every(({ lastVerifiedAt }) => lastVerifiedAt) && secrets;
  });
  expect(listed.map(({ status, expiresAt }) => [status, expiresAt !== null])).toEqual([
    ['active', false],
    ['active', true],
    ['active', true],
    ['active', true],
  ]);
  expect(await post({ ...project, secret: newSigningSecret() }, world.url)).toBe(401);
});

it('a revoked secret is refused at two receivers within a second, although a slow reader writes back the older configuration', async () => {
  const project = await seedProject(world);
  const revoked = await rotate(project);
  const receivers = [world.url, other.url];
  for (const url of receivers)
    await waitFor('a 202', async () => (await post({ ...project, secret: revoked }, url)) === 202);
  const older = await readProjectConfig(world.sql, project.id);
  const configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(world.secretsKey)),
    ttlSeconds: 300,
    onUntrusted: () => {},
  });
  await waitFor('Redis', () => cache.health.isUp);

  const [newest] = await listProjectSecrets(world.sql, project.id);
  await revokeProjectSecret(world.sql, newest!.id);
  await announceProjectChange(world.redis, project.id);
  await configs.write(older!, Date.now());
  for (const url of receivers) {
    const isRefused = async () => (await post({ ...project, secret: revoked }, url)) === 401;
    const { undisturbedMs } = await measureUndisturbed(() => waitFor('the revocation', isRefused));
    expect(undisturbedMs).toBeLessThan(1_000);
  }
  await configs.write(older!, Date.now());
  for (const url of receivers) {
    expect(await post({ ...project, secret: revoked }, url)).toBe(401);
    expect(await post(project, url)).toBe(202);
  }
});

it('the idempotency window is that of the project, and an id of 10 kB is remembered by its hash', async () => {
  const [hour, day] = await Promise.all([
    seedProject(world, { idempotencyTtlSeconds: 3_600 }),
    seedProject(world, { idempotencyTtlSeconds: 86_400 }),
  ]);
  for (const [project, seconds] of [
    [hour, 3_600],
    [day, 86_400],
  ] as const) {
    const webhookId = 'i'.repeat(10_000);
    const first = await postWebhook(world.url, project, { webhookId });
    const again = await postWebhook(other.url, project, { webhookId });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    const [row] = await world.logsOf(project.id, 'queued');
    expect(row?.webhook_id).toMatch(/^sha256:[0-9a-f]{64}$/);
    const ttl = await world.redis.ttl(`hqrelay:idempotency:{${project.id}}:${row!.webhook_id}`);
    expect(ttl).toBeGreaterThan(seconds - 60);
    expect(ttl).toBeLessThanOrEqual(seconds);
  }
});

async function post(project: SeededProject, url: string): Promise<number> {
  return (await postWebhook(url, project, { webhookId: freshId() })).statusCode;
}

async function rotate(project: SeededProject): Promise<string> {
  const secret = newSigningSecret();
  await seedSecret(world, { projectId: project.id, secret });
  await announceProjectChange(world.redis, project.id);
  return secret;
}
