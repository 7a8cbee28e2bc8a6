import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts, isFree } from '../src/free-port.ts';
import { startPrivateRabbitmq } from '../src/servers/private-rabbitmq.ts';
import {
  discardServers,
  type PrivateServers,
  startPrivateServers,
  startPrivateServices,
} from '../src/private-services.ts';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '../src/throw-away-folder.ts';
import { waitFor } from '@hqrelay/testing/wait-for';
import { connect } from 'amqplib';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { askRedis } from './ask-redis.ts';
import { listeningAddresses } from './listening-addresses.ts';
import { processesOf } from './processes-of.ts';

const folders: string[] = [];
const newFolder = () => {
  const folder = makeThrowAwayFolder('hqrelay-servers-');
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) removeThrowAwayFolder(folder);
});

describe('private servers', () => {
  const dir = newFolder();
  let servers: PrivateServers & { stop: () => Promise<void>; discard: () => Promise<void> };
  beforeAll(async () => {
    servers = await startPrivateServices({ dir, durable: true, say: () => {} });
  });
  afterAll(() => servers.discard());

  test('Postgres keeps committed rows when it is killed and started again', async () => {
    await inPostgres(servers.postgres.url, 'create table kept as select 42 as answer');
    await servers.postgres.kill();
    await expect(inPostgres(servers.postgres.url, 'select 1')).rejects.toThrow();
    await servers.postgres.start();
    expect(await inPostgres(servers.postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('a Postgres that is killed while a backend is stopped starts again', async () => {
    const client = new pg.Client({ connectionString: servers.postgres.url });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    process.kill(rows[0]!.pid, 'SIGSTOP');
    await servers.postgres.kill();
    await servers.postgres.start();
    expect(await inPostgres(servers.postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('Redis keeps written keys when it is stopped and started again', async () => {
    await askRedis(servers.redis.url, 'SET kept 42');
    await servers.redis.stop();
    await servers.redis.start();
    expect(await askRedis(servers.redis.url, 'GET kept')).toContain('42');
  });

  test('Redis refuses a write rather than evict a key', async () => {
    expect(await askRedis(servers.redis.url, 'CONFIG GET maxmemory-policy')).toContain('noeviction');
  });

  test('RabbitMQ keeps confirmed messages and its URL when it is killed and started again', async () => {
    await publishConfirmed(servers.rabbitmq.url, 'kept', 'before the kill');
    await waitFor('the broker to register the log of the queue on disk', () => hasRegistered(dir, 'kept'));
    await servers.rabbitmq.kill();
    await servers.rabbitmq.start();
    expect(await takeOne(servers.rabbitmq.url, 'kept')).toBe('before the kill');
  });

  test('a frozen server answers a command only after it is thawed', async () => {
    servers.redis.freeze();
    const answer = askRedis(servers.redis.url, 'PING');
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))]);
    servers.redis.thaw();
    expect(first).toBe('silence');
    expect(await answer).toContain('PONG');
  });

  test('a frozen Postgres answers a query on an existing connection only after it is thawed', async () => {
    const client = new pg.Client({ connectionString: servers.postgres.url });
    await client.connect();
    servers.postgres.freeze();
    const answer = client.query('select 1');
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))]);
    servers.postgres.thaw();
    expect(first).toBe('silence');
    expect((await answer).rowCount).toBe(1);
    await client.end();
  });

  test('private servers listen on loopback alone', () => {
    const pids = processesOf(dir).map((line) => line.split(' ')[0] ?? '');
    const addresses = listeningAddresses([...pids, String(servers.redis.pid())]);
    expect(addresses.length).toBeGreaterThanOrEqual(6);
    const loopback = ['0100007F', '00000000000000000000000001000000'];
    expect(addresses.filter((address) => !loopback.includes(address))).toEqual([]);
  });

  test('files with the passwords of private servers are readable by their owner alone', () => {
    const files = ['rabbitmq/rabbitmq.conf', 'rabbitmq/password', 'postgres/password', 'redis/redis.conf'];
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o077).toBe(0);
  });

  test('Postgres and Redis refuse a client without their password', async () => {
    const url = new URL(servers.postgres.url);
    url.password = '';
    await expect(inPostgres(url.href, 'select 1')).rejects.toThrow(/password/);
    expect(await askRedis(`redis://127.0.0.1:${servers.redis.port}`, 'PING')).toContain('NOAUTH');
  });

  test('a second broker runs beside the first, and when it stops it leaves no process and the first one still works', async () => {
    const second = newFolder();
    const [amqp, distribution, epmd, management] = (await freePorts(4)) as [number, number, number, number];
    const broker = await startPrivateRabbitmq({
      dir: second,
      ports: { amqp, distribution, epmd, management },
      management: false,
    });
    await publishConfirmed(broker.url, 'kept', 'elsewhere');
    expect(processesOf(second)).not.toEqual([]);

    await broker.stop();

    await waitFor('its processes to end', () => processesOf(second).length === 0);
    for (const port of [amqp, distribution, epmd]) expect(await isFree(port)).toBe(true);
    await publishConfirmed(servers.rabbitmq.url, 'kept', 'still there');
    expect(await takeOne(servers.rabbitmq.url, 'kept')).toBe('still there');
  });

  // Runs last, because it ends the servers.
  test('no process of a private server runs after it is stopped', async () => {
    const { postgres, redis, rabbitmq } = servers;
    await servers.stop();
    await waitFor('all to end', () => processesOf(dir).length === 0);
    for (const { port } of [postgres, redis, rabbitmq]) expect(await isFree(port)).toBe(true);
  });
});

describe('a private server', () => {
  let undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const each of undo) await each();
    undo = [];
  });

  test('a private server that cannot start reports its log and leaves no process', async () => {
    const dir = newFolder();
    const starting = startPrivateServers(['redis', 'rabbitmq'], {
      dir,
      durable: false,
      say: () => {},
      rabbitmqSettings: ['no.such.setting = 1'],
    });
    await expect(starting).rejects.toThrow(/RabbitMQ ended while starting[^]*no\.such\.setting/);
    await waitFor('all to end', () => processesOf(dir).length === 0);
  });

  test('a private server whose port is taken moves to another port, reports it, and keeps its data', async () => {
    const options = { dir: newFolder(), durable: true, say: () => {} };
    const before = await startPrivateServers(['redis'], options);
    await askRedis(before.redis.url, 'SET kept 42');
    await before.redis.stop();
    const other = createServer((socket) => socket.destroy()).listen(before.redis.port, '127.0.0.1');
    undo.push(() => new Promise((resolve) => other.close(resolve)));

    const lines: string[] = [];
    const after = await startPrivateServers(['redis'], { ...options, say: (line) => lines.push(line) });
    undo.push(() => discardServers(after));

    expect(after.redis.port).not.toBe(before.redis.port);
    expect(lines.join()).toContain(String(before.redis.port));
    expect(await askRedis(after.redis.url, 'GET kept')).toContain('42');
  });

  test('a private Postgres whose data is from a version without a password asks for one', async () => {
    const folder = newFolder();
    const options = { dir: folder, durable: false, say: () => {} };
    const before = await startPrivateServers(['postgres'], options);
    await inPostgres(before.postgres.url, 'alter role hqrelay_owner password null');
    await before.postgres.stop();
    rmSync(join(folder, 'postgres/password'));

    const after = await startPrivateServers(['postgres'], options);
    undo.push(() => discardServers(after));

    expect(new URL(after.postgres.url).password).not.toBe('');
    expect(await inPostgres(after.postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a private server has the same address after a restart of all servers', async () => {
    const options = { dir: newFolder(), durable: true, say: () => {} };
    const before = await startPrivateServers(['redis'], options);
    await before.redis.stop();
    const after = await startPrivateServers(['redis'], options);
    undo.push(() => discardServers(after));
    expect(after.redis.url).toBe(before.redis.url);
  });
});

async function inPostgres(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * RabbitMQ 3.10 writes to disk about a second late which log belongs to a new queue. A broker that is killed before that starts
 * with the queue and without its log, and the queue never gets a leader, although its messages were confirmed.
 */
function hasRegistered(dir: string, queue: string): boolean {
  const names = 'rabbitmq/mnesia/hqrelay@localhost/quorum/hqrelay@localhost/names.dets';
  return readFileSync(join(dir, names), 'latin1').includes(`%2F_${queue}`);
}

async function publishConfirmed(url: string, queue: string, text: string): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function takeOne(url: string, queue: string): Promise<string> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    // A quorum queue may still be electing its leader.
    const message = await waitFor(`a message in ${queue}`, () => channel.get(queue, { noAck: true }));
    return message.content.toString();
  } finally {
    await connection.close();
  }
}
