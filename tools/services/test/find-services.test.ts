import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findServices, type FindServicesOptions } from '../src/find/find-services.ts';
import { isFree } from '../src/free-port.ts';
import { findLocalServer } from '../src/find/local-servers.ts';
import { discardServers, startPrivateServers } from '../src/private-services.ts';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '../src/throw-away-folder.ts';
import { startRecordingProxy } from '@hqrelay/testing/network/recording-proxy';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const absent = async () => ({ kind: 'absent' }) as const;
const path = process.env['PATH'];
const given = {
  DATABASE_URL: 'postgres://app:secret@db.example/relay',
  REDIS_URL: 'redis://cache.example',
  RABBITMQ_URL: 'amqp://broker.example',
};

let dir: string;
let said: string[];
let undo: (() => Promise<void>)[];
beforeEach(() => {
  dir = makeThrowAwayFolder('hqrelay-found-');
  said = [];
  undo = [];
  // The tests do not use a Docker engine of this machine.
  pretendDocker('exit 1');
});
afterEach(async () => {
  for (const each of undo) await each();
  process.env['PATH'] = path;
  removeThrowAwayFolder(dir);
});

describe('finding services', () => {
  test('URLs in the environment are used as they are, and no server is started', async () => {
    const found = await find(given);
    expect(found.urls).toEqual({ ...given, MIGRATION_DATABASE_URL: given.DATABASE_URL });
    expect(said).toEqual(
      Object.keys(given).map((name) => expect.stringContaining(`the server of ${name}`) as string),
    );
  });

  test('empty variables are refused, all in one error, and no other server is looked for', async () => {
    await expect(find({ ...given, DATABASE_URL: '', REDIS_URL: ' ' })).rejects.toThrow(
      /DATABASE_URL, REDIS_URL: empty/,
    );
  });

  test('a URL of one program without DATABASE_URL is refused, because another database would be migrated', async () => {
    const { DATABASE_URL, ...others } = given;
    await expect(find({ ...others, RECEIVER_DATABASE_URL: DATABASE_URL })).rejects.toThrow(
      'RECEIVER_DATABASE_URL without DATABASE_URL',
    );
  });

  test('a local server is used rather than a container', async () => {
    const { RABBITMQ_URL, DATABASE_URL } = given;
    const redis = async () => ({ kind: 'usable', url: 'redis://127.0.0.1:6379' }) as const;
    const found = await find({ RABBITMQ_URL, DATABASE_URL }, { redis });
    expect(found.urls.REDIS_URL).toBe('redis://127.0.0.1:6379');
    expect(said.join('\n')).toContain('redis: the local server on its default port');
  });

  test('where a local server cannot be used the reason is reported, and containers run until they are stopped', async () => {
    const log = pretendDocker('case "$*" in *"ps -q"*) echo c0ffee;; inspect*) echo healthy;; esac; exit 0');
    const { RABBITMQ_URL, DATABASE_URL } = given;
    const redis = async () => ({ kind: 'passed_over', reason: 'another server has the port' }) as const;

    const found = await find({ RABBITMQ_URL, DATABASE_URL }, { redis });

    expect(said.join('\n')).toMatch(
      /redis: another server has the port[^]*redis: containers of docker-compose.yml/,
    );
    expect(readFileSync(log, 'utf8')).toContain(
      'compose -f docker-compose.yml -f docker-compose.ports.yml up -d redis\n',
    );
    await found.stop();
    expect(readFileSync(log, 'utf8')).toMatch(/stop redis\n$/);
  });

  test('containers that do not start are stopped, their reason is reported, and a private server is started', async () => {
    const log = pretendDocker('case "$*" in *"up -d"*) echo "no such image"; exit 1;; esac; exit 0');
    const { RABBITMQ_URL, DATABASE_URL } = given;

    const found = await find({ RABBITMQ_URL, DATABASE_URL });

    expect(said.join('\n')).toMatch(/no such image[^]*the containers did not start[^]*redis: private server/);
    expect(readFileSync(log, 'utf8')).toContain(
      'compose -f docker-compose.yml -f docker-compose.ports.yml stop redis\n',
    );
    const port = Number(new URL(found.urls.REDIS_URL).port);
    expect(await isFree(port)).toBe(false);
    await found.stop();
    expect(await isFree(port)).toBe(true);
  });

  test('in a private Postgres the apps get a role of their own, the same after a restart', async () => {
    const { RABBITMQ_URL, REDIS_URL } = given;
    const first = await find({ RABBITMQ_URL, REDIS_URL });
    const [owner, app] = [new URL(first.urls.MIGRATION_DATABASE_URL), new URL(first.urls.DATABASE_URL)];
    expect([owner.pathname, app.pathname]).toEqual(['/hqrelay', '/hqrelay']);
    expect([owner.username, app.username]).toEqual(['hqrelay_owner', 'hqrelay']);
    const client = new pg.Client({ connectionString: owner.href });
    await client.connect();
    await client.end();
    expect(statSync(join(dir, 'found/passwords.json')).mode & 0o077).toBe(0);

    await first.stop();
    const second = await find({ RABBITMQ_URL, REDIS_URL });
    expect(second.urls).toEqual(first.urls);
  });

  test('an existing role of the apps gets its password without the password being sent to Postgres', async () => {
    const { RABBITMQ_URL, REDIS_URL } = given;
    const servers = await startPrivateServers(['postgres'], { dir, durable: false, say: () => {} });
    undo.push(() => discardServers(servers));
    const client = new pg.Client({ connectionString: servers.postgres.url });
    await client.connect();
    await client.query("create role hqrelay login password 'of an earlier run'");
    await client.end();
    const proxy = await startRecordingProxy(servers.postgres.port);
    undo.unshift(proxy.shut);
    const url = new URL(servers.postgres.url);
    url.port = String(proxy.port);

    const postgres = async () => ({ kind: 'usable', url: url.href }) as const;
    const found = await find({ RABBITMQ_URL, REDIS_URL }, { postgres });

    const app = new URL(found.urls.DATABASE_URL);
    expect(proxy.text()).toContain("alter role hqrelay login password 'SCRAM-SHA-256$");
    expect(proxy.text()).not.toContain(app.password);
    const asApp = new pg.Client({ connectionString: app.href });
    await asApp.connect();
    await asApp.end();
  });
});

describe('a local server', () => {
  test('a local Postgres without a login that may create databases is not used, and the report names the variable to set', async () => {
    const servers = await startPrivateServers(['postgres', 'redis'], { dir, durable: false, say: () => {} });
    undo.push(() => discardServers(servers));
    const { postgres, redis } = servers;
    expect(await findLocalServer.postgres(postgres.port)).toEqual({
      kind: 'passed_over',
      reason: expect.stringContaining('DATABASE_URL') as string,
    });
    expect(await findLocalServer.redis(redis.port)).toMatchObject({ kind: 'passed_over' });
    expect(await findLocalServer.redis(postgres.port)).toMatchObject({ kind: 'passed_over' });
    expect(await findLocalServer.rabbitmq(redis.port)).toMatchObject({ kind: 'passed_over' });
    await redis.stop();
    expect(await findLocalServer.redis(redis.port)).toEqual({ kind: 'absent' });
  });

  test('a local Postgres is used when its login "postgres" may create databases', async () => {
    const servers = await startPrivateServers(['postgres'], { dir, durable: false, say: () => {} });
    undo.push(() => discardServers(servers));
    const client = new pg.Client({ connectionString: servers.postgres.url });
    await client.connect();
    await client.query("create role postgres superuser login password 'postgres'");
    await client.end();
    expect(await findLocalServer.postgres(servers.postgres.port)).toMatchObject({ kind: 'usable' });
  });
});

async function find(env: Record<string, string>, findLocal: Partial<FindServicesOptions['findLocal']> = {}) {
  const found = await findServices({
    root: dir,
    dir: join(dir, 'found'),
    env,
    say: (line) => said.push(line),
    findLocal: { postgres: absent, redis: absent, rabbitmq: absent, ...findLocal },
  });
  undo.push(found.stop);
  return found;
}

/** A `docker` that writes its arguments to a file, then runs the script. Returns the file. */
function pretendDocker(script: string): string {
  const bin = join(dir, 'bin');
  const log = join(dir, 'docker.log');
  if (!existsSync(bin)) mkdirSync(bin);
  writeFileSync(join(bin, 'docker'), `#!/bin/sh\necho "$*" >> ${log}\n${script}\n`);
  chmodSync(join(bin, 'docker'), 0o755);
  process.env['PATH'] = `${bin}:${path}`;
  return log;
}
