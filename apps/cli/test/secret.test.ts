import { beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

type Secret = { id: string; status: string; expiresAt: string | null; revokedAt: string | null };

const world = await openCliWorld();
let projectId: string;
beforeAll(async () => {
  projectId = await world.createProject();
});
const list = async (of: string) =>
  jsonOf(await world.run('secret', 'list', '--project', of, '--json')) as Secret[];

describe('secret rotate', () => {
  it('secret rotate prints a new secret, and the old one stays active until the overlap ends', async () => {
    const project = await world.createProject();
    const before = Date.now();
    const rotated = jsonOf(
      await world.run('secret', 'rotate', '--project', project, '--overlap', '2h', '--json'),
    ) as { secretId: string; secret: string };
    expect(Object.keys(rotated)).toEqual(['secretId', 'secret']);
    expect(rotated.secret).toMatch(/^[0-9a-f]{64}$/);
    const [newest, old, ...none] = await list(project);
    expect(none).toEqual([]);
    expect(newest).toMatchObject({ id: rotated.secretId, status: 'active', expiresAt: null });
    expect(old).toMatchObject({ status: 'active' });
    expect(Date.parse(old!.expiresAt!) - before).toBeGreaterThan(7_190_000);
    expect(Date.parse(old!.expiresAt!) - before).toBeLessThan(7_260_000);
  });

  it('secret rotate lets the old secret expire at once when the overlap is 0', async () => {
    const project = await world.createProject();
    await world.run('secret', 'rotate', '--project', project, '--overlap', '0s');
    expect((await list(project)).map((secret) => secret.status)).toEqual(['active', 'expired']);
  });

  it('secret rotate does not lengthen an overlap that ends earlier', async () => {
    const project = await world.createProject();
    await world.run('secret', 'rotate', '--project', project, '--overlap', '1h');
    const oldest = (await list(project))[1];
    await world.run('secret', 'rotate', '--project', project);
    expect((await list(project))[2]).toEqual(oldest);
  });

  it('secret rotate takes the secret that the provider chose', async () => {
    const outcome = await world.run(
      'secret',
      'rotate',
      '--project',
      projectId,
      '--secret',
      'chosen by the provider',
      '--json',
    );
    expect(jsonOf(outcome)).toMatchObject({ secret: 'chosen by the provider' });
  });

  it('secret rotate fails for a project that does not exist', async () => {
    const outcome = await world.run('secret', 'rotate', '--project', '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
  });
});

describe('secret list', () => {
  it('secret list shows no secret, in clear or sealed', async () => {
    const { rows } = await world.sql.query('select sealed from project_secrets');
    for (const options of [[], ['--json']]) {
      const { stdout } = await world.run('secret', 'list', '--project', projectId, ...options);
      for (const { sealed } of rows) expect(stdout).not.toContain(sealed);
      expect(stdout).not.toContain('chosen by the provider');
    }
  });

  it('secret list shows when each secret last verified a webhook', async () => {
    const at = new Date('2026-03-01T02:13:45.123Z');
    await world.sql.query('update project_secrets set last_verified_at = $1 where project_id = $2', [
      at,
      projectId,
    ]);
    const { stdout } = await world.run('secret', 'list', '--project', projectId);
    expect(stdout).toContain('2026-03-01 02:13:45.123Z');
  });
});

describe('secret revoke', () => {
  it('secret revoke is permanent, is announced, and warns when no active secret is left', async () => {
    const project = await world.createProject();
    const [secret] = await list(project);
    const announced = await world.announcements();
    const outcome = await world.run('secret', 'revoke', secret!.id, '--json');
    const revoked = jsonOf(outcome) as Secret;
    expect(revoked).toMatchObject({ id: secret!.id, status: 'revoked' });
    expect(outcome.stderr).toContain('no active secret left');
    await expect.poll(() => announced.has(project)).toBe(true);

    expect(jsonOf(await world.run('secret', 'revoke', secret!.id, '--json'))).toEqual(revoked);
    await world.run('secret', 'rotate', '--project', project);
    expect((await list(project))[1]).toEqual(revoked);
  });

  it('secret revoke fails for a secret that does not exist', async () => {
    const outcome = await world.run('secret', 'revoke', '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('there is no secret');
  });
});
