import { freshId } from '@hqrelay/testing/fresh-id';
import { expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const world = await openCliWorld();
const { run, createProject, sql } = world;
const create = async (...options: string[]) =>
  jsonOf(await run('api-key', 'create', '--name', 'support', '--json', ...options)) as {
    apiKeyId: string;
    apiKey: string;
  };

it('api-key create prints the key once and stores its hash alone', async () => {
  const { apiKeyId, apiKey } = await create('--role', 'viewer');
  expect(apiKey).toMatch(/^hqr_[A-Za-z0-9_-]{43}$/);
  const { rows } = await sql.query('select * from api_keys where id = $1', [apiKeyId]);
  expect(JSON.stringify(rows)).not.toContain(apiKey);
  const log = await sql.query('select action, actor, details from admin_log where target = $1', [apiKeyId]);
  expect(log.rows).toMatchObject([{ action: 'api_key.create', actor: expect.stringMatching(/^cli:/) }]);
  expect(JSON.stringify(log.rows)).not.toContain(apiKey.slice(4));
});

it('api-key list shows what a key may do and until when, and never the key', async () => {
  const projectId = await createProject();
  const options = ['--role', 'operator', '--project', projectId, '--expires', '2d', '--hide-payloads'];
  const { apiKeyId, apiKey } = await create(...options);
  const outcome = await run('api-key', 'list', '--project', projectId, '--json');
  const [listed] = jsonOf(outcome) as { createdAt: string; expiresAt: string }[];
  expect(listed).toMatchObject({ id: apiKeyId, role: 'operator', projectId, hidePayloads: true });
  expect(Date.parse(listed!.expiresAt) - Date.parse(listed!.createdAt)).toBeCloseTo(2 * 86_400_000, -5);
  expect(outcome.stdout).not.toContain(apiKey);
});

it('api-key revoke ends a key for good and is recorded once', async () => {
  const { apiKeyId } = await create('--role', 'admin');
  for (let times = 0; times < 2; times += 1) {
    const revoked = jsonOf(await run('api-key', 'revoke', apiKeyId, '--json'));
    expect(revoked).toMatchObject({ id: apiKeyId, status: 'revoked' });
  }
  const { rows } = await sql.query("select from admin_log where target = $1 and action = 'api_key.revoke'", [
    apiKeyId,
  ]);
  expect(rows).toHaveLength(1);
});

it('an API key of a project that does not exist is refused', async () => {
  const outcome = await run('api-key', 'create', '--name', 'x', '--role', 'viewer', '--project', freshId());
  expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('there is no project') });
});

it('an API key without a role is wrong usage', async () => {
  expect(await run('api-key', 'create', '--name', 'x')).toMatchObject({ exitCode: 2 });
});
