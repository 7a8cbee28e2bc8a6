import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

type Created = { projectId: string; webhookUrl: string; secret: string };
type Project = { id: string; name: string; rateLimitPerMinute: number | null; enabled: boolean };

const world = await openCliWorld();

const create = async (...options: string[]) =>
  jsonOf(await world.run('project', 'create', '--name', 'Acme', ...options, '--json')) as Created;

const find = async (projectId: string) =>
  (jsonOf(await world.run('project', 'list', '--json')) as Project[]).find(({ id }) => id === projectId);

describe('project create', () => {
  it('project create prints the id, the webhook URL and a secret alone, and stores the default settings', async () => {
    const created = await create();
    expect(Object.keys(created)).toEqual(['projectId', 'webhookUrl', 'secret']);
    expect(created.webhookUrl).toBe(`http://127.0.0.1:3000/v1/webhooks/${created.projectId}`);
    expect(created.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await find(created.projectId)).toMatchObject({
      name: 'Acme',
      provider: 'generic',
      rateLimitPerMinute: 100,
      idempotencyTtlSeconds: 86_400,
      onConflict: 'reject',
      sameBody: 'accept',
      requireTimestamp: false,
      enabled: true,
    });
  });

  it('project create and update take up to five search keys, and update --no-search-key takes them away', async () => {
    const { projectId } = await create('--search-key', '/order/id', '--search-key', '/a~1b');
    expect(await find(projectId)).toMatchObject({ searchKeys: ['/order/id', '/a~1b'] });
    await world.run('project', 'update', projectId, '--no-search-key', '--json');
    expect(await find(projectId)).toMatchObject({ searchKeys: [] });
    const wrong = await world.run('project', 'update', projectId, '--search-key', 'order.id');
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('JSON Pointer') });
    const six = ['/1', '/2', '/3', '/4', '/5', '/6'].flatMap((key) => ['--search-key', key]);
    expect(await world.run('project', 'update', projectId, ...six)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('at most five'),
    });
  });

  it('project create builds the webhook URL from PUBLIC_URL', async () => {
    const outcome = await world.runWith({ PUBLIC_URL: 'https://hooks.example.com/in/' }, [
      'project',
      'create',
      '--name',
      'Acme',
      '--json',
    ]);
    const { projectId, webhookUrl } = jsonOf(outcome) as Created;
    expect(webhookUrl).toBe(`https://hooks.example.com/in/v1/webhooks/${projectId}`);
  });

  it('project create stores the given secret sealed, bound to its row', async () => {
    const { projectId, secret } = await create('--secret', 'a secret of the provider');
    expect(secret).toBe('a secret of the provider');
    const { rows } = await world.sql.query('select * from project_secrets where project_id = $1', [
      projectId,
    ]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('a secret of the provider');
    const keys = parseSecretKeys(world.env['HQRELAY_SECRETS_KEY']!);
    const box = { keyId: rows[0].key_id, sealed: rows[0].sealed };
    expect(open(keys, box, `project_secrets:${rows[0].id}`)).toBe('a secret of the provider');
  });

  it.each([
    [['--tier', 'default'], 100],
    [['--tier', 'enterprise'], 1_000],
    [['--rate-limit', '250'], 250],
    [['--rate-limit', 'unlimited'], null],
  ])('project create takes the rate limit from %s', async (options, rateLimitPerMinute) => {
    const { projectId } = await create(...options);
    expect(await find(projectId)).toMatchObject({ rateLimitPerMinute });
  });

  it('project create stores the settings for timestamps, conflicts, same bodies and idempotency', async () => {
    const { projectId } = await create(
      '--require-timestamp',
      '--on-conflict',
      'duplicate',
      '--same-body',
      'duplicate',
      '--idempotency-ttl',
      '2h',
    );
    expect(await find(projectId)).toMatchObject({
      requireTimestamp: true,
      onConflict: 'duplicate',
      sameBody: 'duplicate',
      idempotencyTtlSeconds: 7_200,
    });
  });

  it('project create without --json prints labelled lines with the id and the secret', async () => {
    const outcome = await world.run(
      'project',
      'create',
      '--name',
      'Acme',
      '--secret',
      'a secret of the provider',
    );
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stdout).toMatch(/^Created the project Acme\..*\n {2}project id {3}/);
    expect(outcome.stdout).toContain('a secret of the provider');
  });
});

describe('project update, disable and enable', () => {
  it('project update changes the given settings and no others', async () => {
    const { projectId } = await create('--rate-limit', '250', '--require-timestamp');
    await world.run('project', 'update', projectId, '--name', 'Other', '--rate-limit', 'unlimited');
    expect(await find(projectId)).toMatchObject({
      name: 'Other',
      rateLimitPerMinute: null,
      requireTimestamp: true,
    });
    await world.run('project', 'update', projectId, '--no-require-timestamp', '--same-body', 'duplicate');
    expect(await find(projectId)).toMatchObject({
      name: 'Other',
      requireTimestamp: false,
      sameBody: 'duplicate',
    });
  });

  it('project disable and project enable print the changed project', async () => {
    const { projectId } = await create();
    const disabled = jsonOf(await world.run('project', 'disable', projectId, '--json')) as Project;
    expect(disabled).toMatchObject({ id: projectId, enabled: false });
    const enabled = jsonOf(
      await world.run('project', 'enable', projectId.toUpperCase(), '--json'),
    ) as Project;
    expect(enabled).toMatchObject({ id: projectId, enabled: true });
  });

  it('project disable fails for a project that does not exist', async () => {
    const outcome = await world.run('project', 'disable', '01890a5d-ac96-774b-bcce-b302099a8057', '--json');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no project 01890a5d');
  });
});

describe('a change of a project', () => {
  it('a change of a project is announced', async () => {
    const { projectId } = await create();
    const announced = await world.announcements();
    await world.run('project', 'disable', projectId);
    await expect.poll(() => announced.has(projectId)).toBe(true);
  });

  it('a change of a project is saved while Redis is unavailable, and a warning names the longest delay', async () => {
    const { projectId } = await create();
    const outcome = await world.runWith(
      { REDIS_URL: 'redis://127.0.0.1:1', CONFIG_CACHE_TTL_SECONDS: '77' },
      ['project', 'disable', projectId, '--json'],
    );
    expect(jsonOf(outcome)).toMatchObject({ enabled: false });
    expect(outcome.stderr).toMatch(/^warning: .*up to 77 s/);
    expect(await find(projectId)).toMatchObject({ enabled: false });
  });
});
