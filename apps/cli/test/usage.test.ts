import { describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const addEndpoint = ['endpoint', 'add', '--project', id];
const env = {
  DATABASE_URL: 'postgres://user@127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  HQRELAY_SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('wrong usage', () => {
  it.each([
    ['no command', [], 'Usage: hqrelay'],
    ['a group without its command', ['project'], 'Usage: hqrelay project'],
    ['an unknown command', ['projects'], "unknown command 'projects'"],
    ['an unknown command of a group', ['project', 'delete'], "unknown command 'delete'"],
    ['an unknown option', ['project', 'list', '--wide'], "unknown option '--wide'"],
    ['an argument too many', ['project', 'list', 'x'], 'too many arguments'],
    ['a missing option', ['project', 'create'], "'--name <name>' not specified"],
    ['an id that is not a UUID', ['endpoint', 'test', 'abc'], 'expected a UUID'],
    [
      'an unknown provider',
      ['project', 'create', '--name', 'A', '--provider', 'x'],
      'there is no provider "x"',
    ],
    [
      'an unknown tier',
      ['project', 'create', '--name', 'A', '--tier', 'gold'],
      'expected default or enterprise',
    ],
    [
      'a rate limit of 0 a minute',
      ['project', 'create', '--name', 'A', '--rate-limit', '0'],
      'expected a whole number from 1 to 1000000',
    ],
    [
      'a tier and a rate limit',
      ['project', 'create', '--name', 'A', '--rate-limit', '5', '--tier', 'default'],
      'cannot be used with',
    ],
    [
      'an overlap that is not a duration',
      ['secret', 'rotate', '--project', id, '--overlap', '1 day'],
      'not a duration',
    ],
    [
      'an unknown status',
      ['webhook', 'list', '--project', id, '--status', 'lost'],
      'Allowed choices are queued',
    ],
    ['a webhook id that is no UUID', ['webhook', 'show', 'evt_1'], 'expected the id that the 202 answered'],
    [
      'the id of a delivery instead of a webhook',
      ['webhook', 'show', 'df49e973-8ae5-8a86-ac9c-81250a422fa1'],
      'version 7',
    ],
    [
      'a bad retry schedule',
      [...addEndpoint, '--url', 'https://a.example', '--retry', '1s,3w'],
      '"3w" is not a duration',
    ],
    [
      'an empty event type',
      [...addEndpoint, '--url', 'https://a.example', '--events', 'a,,b'],
      'an event type is empty',
    ],
    [
      'a timeout over the bound',
      [...addEndpoint, '--url', 'https://a.example', '--timeout', '31s'],
      'from 1s to 30s',
    ],
    ['a URL without a scheme', [...addEndpoint, '--url', 'a.example'], 'not a URL'],
    ['a metadata address', [...addEndpoint, '--url', 'https://169.254.169.254/'], 'metadata'],
    ['a private address', [...addEndpoint, '--url', 'https://10.0.0.8/'], '10.0.0.8'],
    [
      'credentials in a URL',
      [...addEndpoint, '--url', 'https://user:pa55word@a.example/'],
      'the URL has credentials in it: give the endpoint a fixed header instead',
    ],
    ['plain HTTP to a public address', [...addEndpoint, '--url', 'http://a.example/'], 'not https'],
    ['an update of nothing', ['endpoint', 'update', id], 'nothing to change'],
    ['a replay of nothing', ['dlq', 'replay'], 'name dead letters by their ids'],
    ['ids and a project', ['dlq', 'replay', id, '--project', id], 'ids stand alone'],
    ['a rate of 0', ['dlq', 'replay', id, '--rate', '0'], 'from 1 to 2000'],
    ['a dead letter id that is not a UUID', ['dlq', 'replay', 'evt_1'], 'expected a UUID'],
    ['a time in words', ['dlq', 'list', '--since', 'yesterday'], 'not a duration'],
    ['a date that does not exist', ['dlq', 'list', '--since', '2026-13-01'], 'expected a time such as'],
    ['a replay of no webhook and no period', ['replay', '--endpoint', id], 'name a webhook, or a period'],
    ['a period without an endpoint', ['replay', '--since', '1h'], 'name a webhook, or a period'],
    ['a webhook and a period', ['replay', id, '--endpoint', id, '--since', '1h'], 'a webhook stands alone'],
    [
      'a period that is empty',
      ['replay', '--endpoint', id, '--since', '1h', '--until', '2h'],
      'the period is empty',
    ],
    ['a replay of an id that is not a UUID', ['replay', 'evt_1'], 'expected the id that the 202 answered'],
    ['a body file that is not there', ['send', '--project', id, '--body', 'nowhere.json'], 'cannot be read'],
  ])('wrong usage exits 2 with an error that says what is wrong: %s', async (_, argv, message) => {
    const outcome = await runCli(env, argv);
    expect(outcome.stderr).toContain(message);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stdout).toBe('');
  });

  it.each([
    ['a header that the relay sets', ['--header', 'Webhook-Id: hush-hush']],
    ['a header without a name', ['--header', 'hush-hush']],
    ['a header of the connection', ['--header', 'Host: hush-hush']],
    ['a header with a line break', ['--header', 'X-A: hush-hush\nX-B: 1']],
    ['a header given twice', ['--header', 'X-A: hush-hush', '--header', 'x-a: hush-hush']],
    ['a password in the URL', ['--url', 'https://me:hush-hush@a.example/']],
  ])('an error does not repeat a value that may be a credential: %s', async (_, options) => {
    const outcome = await runCli(env, [...addEndpoint, '--url', 'https://a.example', ...options]);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).not.toContain('hush-hush');
  });

  it.each([
    ['no pointer', ['--ordering-key', 'order_id'], 'neither a JSON Pointer'],
    ['a credential', ['--ordering-key', 'header:Authorization'], 'is a credential'],
    ['another word', ['--on-dead-letter', 'wait'], 'Allowed choices are continue, hold'],
  ])('endpoint add and update refuse an ordering option with %s', async (_, options, why) => {
    for (const command of [
      [...addEndpoint, '--url', 'https://a.example'],
      ['endpoint', 'update', id],
    ]) {
      const outcome = await runCli(env, [...command, ...options]);
      expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
      expect(outcome.stderr).toContain(why);
    }
  });

  it('an error does not repeat a secret that is refused', async () => {
    const outcome = await runCli(env, [
      'project',
      'create',
      '--name',
      'A',
      '--secret',
      'hush\nhush, hush, hush',
    ]);
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stderr).toContain('--secret: expected');
    expect(outcome.stderr).not.toContain('hush\nhush');
  });
});

describe('the environment', () => {
  it('a command requires only the variables that it uses', async () => {
    const outcome = await runCli({}, ['project', 'list']);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain('DATABASE_URL is required');
    expect(outcome.stderr).not.toMatch(/RABBITMQ_URL|REDIS_URL|HQRELAY_SECRETS_KEY/);
  });

  it('an error names the database that cannot be reached, without its password', async () => {
    const outcome = await runCli({ DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/x' }, [
      'project',
      'list',
      '--json',
    ]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toMatch(
      /Postgres cannot be used \(postgres:\/\/me:\*+@127.0.0.1:1\/x\): .*ECONNREFUSED/,
    );
    expect(outcome.stderr).not.toContain('hush');
  });
});

it('endpoint add --help prints the help with exit code 0', async () => {
  const outcome = await runCli({}, ['endpoint', 'add', '--help']);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(outcome.stdout).toContain('--forward-credentials');
});
