import { startApp } from '@hqrelay/testing/app-process';
import { grantAsBefore } from '@hqrelay/testing/database/previous-grants';
import { freshId } from '@hqrelay/testing/fresh-id';
import { startRecordingEndpoint } from '@hqrelay/testing/recording-endpoint';
import { createWorld, type World } from '@hqrelay/testing/world';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { jsonOf, runCli } from './run-cli.ts';

type Environment = Record<string, string>;

let world: World;

beforeEach(async () => {
  world = await createWorld(inject('run'));
});

afterEach(() => world.close());

/** Without DATABASE_URL: each program has the URL of its own user. */
function environmentOfEachProgram(): Promise<Environment> {
  const { DATABASE_URL: _, ...env } = world.env;
  return Promise.resolve(env);
}

/** A database with the grants of the former role `hqrelay_app` and its one user, migrated with DATABASE_URL alone. */
async function environmentOfUpgrade(): Promise<Environment> {
  const user = { name: `user_${freshId().slice(-12)}`, password: 'secret' };
  const owner = new pg.Client({ connectionString: world.ownerDatabaseUrl });
  await owner.connect();
  await owner.query('drop owned by hqrelay_receiver, hqrelay_worker, hqrelay_console, hqrelay_reader');
  await grantAsBefore(owner, user);
  await owner.end();
  const {
    RECEIVER_DATABASE_URL: _receiver,
    WORKER_DATABASE_URL: _worker,
    CONSOLE_DATABASE_URL: _console,
    ...env
  } = world.env;
  const url = new URL(world.databaseUrl);
  Object.assign(url, { username: user.name, password: user.password });
  env['DATABASE_URL'] = url.href;
  expect(jsonOf(await runCli(env, ['migrate', '--json']))).toEqual({ migrated: true, notices: [] });
  return env;
}

describe.each([
  ['a Postgres user for each program', environmentOfEachProgram],
  ['the one user of an older version, after migrating', environmentOfUpgrade],
])('with %s', (users, environment) => {
  it(`with ${users}, a webhook is received, delivered and replayed without a denied permission`, async () => {
    const env = await environment();
    const [receiver, worker] = await Promise.all([
      startApp('receiver', { env }),
      startApp('worker', { env }),
    ]);
    const endpoint = await startRecordingEndpoint();
    try {
      await Promise.all([receiver.waitUntilReady(), worker.waitUntilReady()]);
      const hqrelay = async <Answer>(...argv: string[]) =>
        jsonOf(await runCli({ ...env, RECEIVER_URL: receiver.url }, [...argv, '--json'])) as Answer;
      const { projectId } = await hqrelay<{ projectId: string }>('project', 'create', '--name', 'Acme');
      await hqrelay('endpoint', 'add', '--project', projectId, '--url', endpoint.url);
      const { id } = await hqrelay<{ id: string }>('send', '--project', projectId);
      await endpoint.waitForRequests(1);
      await hqrelay('replay', id);

      const requests = await endpoint.waitForRequests(2);

      expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
      const refused = [...receiver.logs, ...worker.logs].filter((line) =>
        JSON.stringify(line).includes('permission denied'),
      );
      expect(refused).toEqual([]);
    } finally {
      await Promise.all([receiver.end(), worker.end()]);
      await endpoint.close();
    }
  });
});
