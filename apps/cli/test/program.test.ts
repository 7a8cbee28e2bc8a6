import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf } from './run-cli.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const world = await openCliWorld();

async function start(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = ['--conditions=@hqrelay/source', '--import', 'tsx', main, ...argv];
  try {
    const env = { ...world.env, PATH: process.env['PATH'] };
    return { code: 0, ...(await promisify(execFile)(process.execPath, args, { env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('the process', () => {
  it('a command with --json prints one JSON value and nothing else, and the process exits by itself', async () => {
    const { code, stdout, stderr } = await start('project', 'create', '--name', 'Acme', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveProperty('projectId');
  });

  it('the process exits with code 2 for wrong usage and 1 for a failure', async () => {
    expect(await start('project', 'nonsense')).toMatchObject({ code: 2, stdout: '' });
    const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(await start('webhook', 'show', unknown)).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('migrate', () => {
  it('migrate succeeds on an up-to-date schema, with and without --json', async () => {
    const outcome = await world.run('migrate');
    expect(outcome).toMatchObject({ exitCode: 0, stdout: 'The schema is up to date.\n' });
    expect(jsonOf(await world.run('migrate', '--json'))).toMatchObject({ migrated: true });
  });

  it('migrate reports a database that it cannot reach, without its password', async () => {
    const outcome = await world.runWith({ MIGRATION_DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/x' }, [
      'migrate',
    ]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('ECONNREFUSED');
    expect(outcome.stderr).not.toContain('hush');
  });
});

describe('Postgres', () => {
  it('a command on a database without the schema fails with a hint to run npm run migrate', async () => {
    const { pathname } = new URL(world.env['DATABASE_URL'] ?? '');
    const withoutSchema = (world.env['MIGRATION_DATABASE_URL'] ?? '').replace(pathname, '/postgres');
    const outcome = await world.runWith({ CONSOLE_DATABASE_URL: withoutSchema }, ['project', 'list']);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('run npm run migrate');
  });

  it('a command that Postgres refuses prints the error of Postgres in a sentence', async () => {
    await world.sql.query('revoke select on projects from hqrelay_console');
    const refused = await world.run('project', 'list');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toBe('error: Postgres: permission denied for table projects\n');
  });
});
