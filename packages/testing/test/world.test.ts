import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorld, type World } from '../src/world.ts';
import pg from 'pg';
import { expect, inject, test } from 'vitest';

const run = inject('run');

test('a world does not see the tables and queues of another', async () => {
  const [one, other] = await Promise.all([createWorld(run), createWorld(run)]);
  try {
    await one.sql.query('create table only_here ()');
    await expect(other.sql.query('select from only_here')).rejects.toThrow('does not exist');

    expect((await askBroker(one, 'PUT')).status).toBe(201);
    expect((await askBroker(one, 'GET')).status).toBe(200);
    expect((await askBroker(other, 'GET')).status).toBe(404);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});

test('a world is migrated, and the user of its apps does not own the schema', async () => {
  const world = await createWorld(run);
  const app = new pg.Client({ connectionString: world.databaseUrl });
  try {
    await app.connect();
    await app.query('select from webhook_logs');
    await expect(app.query('drop table webhook_logs')).rejects.toThrow('must be owner');
  } finally {
    await app.end();
    await world.close();
  }
});

test('a closed world leaves no database and no queue', async () => {
  const world = await createWorld(run);
  await askBroker(world, 'PUT');

  await world.close();

  await expect(new pg.Client({ connectionString: world.ownerDatabaseUrl }).connect()).rejects.toThrow(
    'does not exist',
  );
  expect((await askBroker(world, 'GET', '')).status).toBe(404);
});

test('a world with a server of its own may freeze and lose it, and leaves nothing in the folder of the run', async () => {
  const folder = run.folder;
  const world = await createWorld(run, { own: ['postgres'] });
  // Other files have worlds in the same folder.
  const isOurs = (name: string) => {
    const ports = join(folder, name, 'ports.json');
    return existsSync(ports) && readFileSync(ports, 'utf8').includes(String(world.servers.postgres?.port));
  };
  expect(readdirSync(folder).filter(isOurs)).toHaveLength(1);
  await world.sql.query('select 1');
  world.servers.postgres?.freeze();

  await world.close();

  expect(readdirSync(folder).filter(isOurs)).toEqual([]);
  expect(existsSync(folder)).toBe(true);
});

/** Creates or reads a queue of the world's virtual host, or reads all of them. */
function askBroker(world: World, method: 'GET' | 'PUT', queue = '/only-here'): Promise<Response> {
  const { origin, username, password } = new URL(world.rabbitmqManagementUrl);
  return fetch(`${origin}/api/queues${new URL(world.rabbitmqUrl).pathname}${queue}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    ...(method === 'PUT' && { body: '{"durable":true}' }),
  });
}
