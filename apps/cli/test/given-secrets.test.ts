import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCliWorld } from './cli-world.ts';
import { jsonOf, runCli } from './run-cli.ts';

const secret = 'a secret of 25 bytes, ok?';

const world = await openCliWorld();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hqrelay-cli-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function file(content: string | Buffer): Promise<string> {
  const path = join(folder, `${Math.random()}`);
  await writeFile(path, content);
  return path;
}

const create = ['project', 'create', '--name', 'Acme', '--json'];
const secretOf = (outcome: Awaited<ReturnType<typeof runCli>>) =>
  (jsonOf(outcome) as { secret: string }).secret;

describe('a secret', () => {
  it.each([
    ['without a line break', secret],
    ['with a line break at the end', `${secret}\n`],
    ['with a Windows line break at the end', `${secret}\r\n`],
  ])('a secret is read from a --secret-file %s', async (_, content) => {
    expect(secretOf(await world.run(...create, '--secret-file', await file(content)))).toBe(secret);
  });

  it.each(['--secret', '--secret-file'])('a secret is read from stdin by %s -', async (option) => {
    const input = Buffer.from(`${secret}\n`);
    expect(secretOf(await world.runWith({}, [...create, option, '-'], input))).toBe(secret);
    const projectId = await world.createProject();
    const rotate = ['secret', 'rotate', '--project', projectId, '--json'];
    expect(secretOf(await world.runWith({}, [...rotate, option, '-'], input))).toBe(secret);
  });

  it('a --secret-file is resolved against the working directory of the caller', async () => {
    await writeFile(join(folder, 'secret'), secret);
    const argv = [...create, '--secret-file', 'secret'];
    expect(secretOf(await runCli(world.env, argv, { directory: folder }))).toBe(secret);
  });

  it.each([
    ['that does not exist', async () => join(folder, 'nowhere'), /cannot be read: ENOENT/],
    ['that is empty', () => file('\n'), /expected 1 to 1024 characters/],
    ['of several lines', () => file(`${secret}\nhush`), /expected 1 to 1024 characters/],
    ['that is not UTF-8', () => file(Buffer.alloc(32, 0xff)), /is not UTF-8/],
  ])('a secret is refused from a file %s', async (_, path, message) => {
    const outcome = await world.run(...create, '--secret-file', await path());
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain('hush');
  });

  it('a secret is given once: --secret and --secret-file exclude each other', async () => {
    const outcome = await world.run(...create, '--secret', secret, '--secret-file', await file(secret));
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain('--secret and --secret-file');
    expect(outcome.stderr).not.toContain(secret);
  });
});

describe('a given secret under 16 bytes', () => {
  const short = 'fifteen bytes..';

  it.each([
    ['project create', async () => create],
    ['secret rotate', async () => ['secret', 'rotate', '--project', await world.createProject(), '--json']],
  ])('a secret under 16 bytes is refused by %s without --allow-short-secret', async (_, command) => {
    const argv = await command();
    for (const options of [
      ['--secret', short],
      ['--secret-file', await file(short)],
    ]) {
      const outcome = await world.run(...argv, ...options);
      expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
      expect(outcome.stderr).toMatch(/15 bytes.*at least 16.*--allow-short-secret/);
      expect(outcome.stderr).not.toContain(short);
      expect(secretOf(await world.run(...argv, ...options, '--allow-short-secret'))).toBe(short);
    }
  });

  it('the length of a secret is counted in bytes, not in characters', async () => {
    expect(secretOf(await world.run(...create, '--secret', 'ключключ'))).toBe('ключключ');
  });

  it('a secret under 16 bytes is accepted with a warning where the provider chooses the secret', async () => {
    const projectId = await world.createProject();
    await world.sql.query(`update projects set provider = 'slack' where id = $1`, [projectId]);
    const outcome = await world.run('secret', 'rotate', '--project', projectId, '--secret', short, '--json');
    expect(secretOf(outcome)).toBe(short);
    expect(outcome.stderr).toMatch(/^warning: the secret has 15 bytes/);
    expect(outcome.stderr).not.toContain(short);
  });
});

describe('a fixed header', () => {
  const headersOf = async (endpointId: string) => {
    const { rows } = await world.sql.query<{ sealed: string; key_id: string }>(
      'select sealed_headers as sealed, headers_key_id as key_id from endpoints where id = $1',
      [endpointId],
    );
    const keys = parseSecretKeys(world.env['HQRELAY_SECRETS_KEY']!);
    const box = { sealed: rows[0]!.sealed, keyId: rows[0]!.key_id };
    return JSON.parse(open(keys, box, `endpoints.headers:${endpointId}`)) as unknown;
  };
  const lines = 'Authorization: Bearer abc\r\n\nX-B: 1\n';
  const headers = [
    ['Authorization', 'Bearer abc'],
    ['X-B', '1'],
  ];

  it('fixed headers are read from --header-file, one on each line, and added to those of --header', async () => {
    const options = ['--header', 'X-C: 2', '--header-file', await file(lines)];
    const added = await world.addEndpoint(await world.createProject(), 'https://a.example/', ...options);
    expect(await headersOf(added.endpointId)).toEqual([['X-C', '2'], ...headers]);
  });

  it.each(['--header', '--header-file'])('fixed headers are read from stdin by %s -', async (option) => {
    const { endpointId } = await world.addEndpoint(await world.createProject(), 'https://a.example/');
    const update = ['endpoint', 'update', endpointId, '--json', option, '-'];
    expect(jsonOf(await world.runWith({}, update, Buffer.from(lines)))).toMatchObject({ hasHeaders: true });
    expect(await headersOf(endpointId)).toEqual(headers);
  });

  it.each([
    ['with a line that is not a header', () => file('hush-hush'), /--header: expected 'Name: value'/],
    ['without a header', () => file('\n'), /has no header/],
    ['that does not exist', async () => join(folder, 'nowhere'), /cannot be read: ENOENT/],
  ])('a --header-file %s is refused', async (_, path, message) => {
    const projectId = await world.createProject();
    const argv = ['endpoint', 'add', '--project', projectId, '--url', 'https://a.example/'];
    const outcome = await world.run(...argv, '--header-file', await path());
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stderr).not.toContain('hush-hush');
  });

  it('fixed headers from stdin by two options are refused', async () => {
    const projectId = await world.createProject();
    const argv = ['endpoint', 'add', '--project', projectId, '--url', 'https://a.example/'];
    const outcome = await world.runWith(
      {},
      [...argv, '--header', '-', '--header-file', '-'],
      Buffer.from(lines),
    );
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain('stdin was read already');
  });
});
