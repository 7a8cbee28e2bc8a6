import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import type { StoreState } from '@hqrelay/flow/store-health';
import type { RunningServer } from '@hqrelay/services/running-server';
import { freshId } from '@hqrelay/testing/fresh-id';
import { measureUndisturbed } from '@hqrelay/testing/time/undisturbed';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { admit } from '../src/admission/admit.ts';
import { acceptKeys, releaseKeys, uncount } from '../src/admission/end-reservation.ts';
import { distrustMemory, trustMemory } from '../src/admission/project-memory.ts';
import { Cache } from '../src/client.ts';
import { isFirstConflict } from '../src/conflict-payload.ts';
import { connectRedis } from '../src/connect-redis.ts';
import { evictionWarning } from '../src/eviction-warning.ts';
import { countLiveWorkers, leaveLiveWorkers } from '../src/fleet/live-workers.ts';
import { countNearLimit, markNearLimit } from '../src/near-limit.ts';
import { announceProjectChange, ConfigCache, followProjectChanges } from '../src/project-config.ts';
import { runScript, script } from '../src/script.ts';

let world: World;
let server: RunningServer;
let cache: Cache;
let states: StoreState[];
let refused: string[];

const open = (url: string, answerWithinMs = 100) =>
  new Cache({
    url,
    answerWithinMs,
    name: 'test',
    onChange: (state) => states.push(state),
    onRefused: (error) => refused.push(error.message),
  });

const ping = () => cache.tryCommand((redis) => redis.ping());
const write = () => cache.tryCommand((redis) => redis.set('key', 'value'));
const add = script(`return redis.call('INCR', KEYS[1])`);
const count = () => cache.tryCommand((redis) => runScript(redis, add, ['count'], []));

beforeAll(async () => {
  world = await createWorld(inject('run'), { own: ['redis'] });
  server = world.servers.redis as RunningServer;
});

afterAll(() => world?.close());

beforeEach(async () => {
  states = [];
  refused = [];
  cache = open(world.redisUrl);
  cache.start();
  await waitFor('Redis', () => cache.health.isUp);
});

afterEach(() => cache.close());

describe('a Redis that stops answering', () => {
  it('a frozen Redis is skipped at once after one command waited 100 ms for it', async () => {
    server.freeze();
    const first = await measureUndisturbed(ping);
    expect(first.value).toBeUndefined();
    expect(first.undisturbedMs).toBeLessThan(400);
    expect(cache.health.state).toBe('blocked');
    const again = await measureUndisturbed(async () => {
      for (let i = 0; i < 100; i += 1) expect(await ping()).toBeUndefined();
    });
    expect(again.undisturbedMs).toBeLessThan(300);
    server.thaw();
    await waitFor('Redis', () => cache.health.isUp);
  });

  it('Redis is up again after it was frozen, although no command is sent', async () => {
    server.freeze();
    await ping();
    expect(states.at(-1)).toBe('blocked');
    const before = states.length;
    server.thaw();
    await waitFor('Redis', () => states.length > before);
    expect(states[before]).toBe('up');
    expect(await waitFor('an answer', ping)).toEqual({ value: 'PONG' });
  });

  it('Redis is up again after a restart', async () => {
    await server.stop();
    await waitFor('the loss', () => cache.health.state === 'down');
    expect(await ping()).toBeUndefined();
    await server.start();
    await waitFor('Redis', () => cache.health.isUp);
    expect(await waitFor('an answer', ping)).toEqual({ value: 'PONG' });
  });

  it('a Redis that starts later than the client is up soon after its start', async () => {
    await cache.close();
    await server.stop();
    cache = open(world.redisUrl);
    cache.start();
    await waitFor('the first try', () => cache.health.state === 'down');
    expect(cache.health.detail).toContain('ECONNREFUSED');
    await server.start();
    await waitFor('Redis', () => cache.health.isUp);
  });
});

describe('a Redis that answers with errors', () => {
  beforeEach(async () => {
    await cache.close();
    states = [];
    cache = open(world.redisUrl, 30_000);
    cache.start();
    await waitFor('Redis', () => cache.health.isUp);
  });

  it('a Redis that answers one command with an error stays up, and the error is thrown and reported once', async () => {
    await cache.redis.del('count');
    await cache.redis.rpush('count', 'not a number');
    for (let i = 0; i < 3; i += 1) await expect(count()).rejects.toThrow('WRONGTYPE');
    await expect(cache.tryCommand((redis) => redis.call('NO.SUCH.COMMAND'))).rejects.toThrow(
      'unknown command',
    );
    expect(cache.health.isUp).toBe(true);
    expect(states).toEqual(['up']);
    expect(refused).toEqual([
      expect.stringContaining('WRONGTYPE'),
      expect.stringContaining('unknown command'),
    ]);
    await cache.redis.del('count');
    expect(await count()).toEqual({ value: 1 });
  });

  it.each([
    ['has no memory left', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], 'OOM'],
    ['is a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], 'READONLY'],
    [
      'forbids scripts by its ACL',
      ['ACL', 'SETUSER', 'default', '-evalsha'],
      ['ACL', 'SETUSER', 'default', '+@all'],
      'NOPERM',
    ],
    [
      'has too few replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
      'NOREPLICAS',
    ],
  ])(
    'a Redis that %s is blocked until it serves again, and nothing is thrown',
    async (_why, bad, good, reason) => {
      const admin = connectRedis(world.redisUrl, 'admin', { enableReadyCheck: false });
      await admin.connect();
      const call = ([name = '', ...args]: string[]) => admin.call(name, ...args);
      try {
        await call(bad);
        expect(await count()).toBeUndefined();
        expect(cache.health).toMatchObject({ state: 'blocked', detail: expect.stringContaining(reason) });
        for (let i = 0; i < 100; i += 1) expect(await ping()).toBeUndefined();
        expect(refused).toEqual([]);
        expect(states).toEqual(['up', 'blocked']);
      } finally {
        await call(good);
        admin.disconnect();
      }
      await waitFor('Redis', () => cache.health.isUp);
      expect(await waitFor('an answer', write)).toEqual({ value: 'OK' });
      expect(states.slice(0, 3)).toEqual(['up', 'blocked', 'up']);
    },
  );
});

it('an ACL user with the rights that docs/operations.md names can run every command of the apps', async () => {
  const documented = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const rights = /An ACL user needs `([^`]+)`, and\s+`([^`]+)`/.exec(documented)?.slice(1).join(' ') ?? '';
  await cache.redis.call('ACL', 'SETUSER', 'app', 'on', '>pw', ...rights.split(' '));
  const url = new URL(world.redisUrl);
  url.username = 'app';
  url.password = 'pw';
  const limited = open(url.href, 30_000);
  const subscriber = limited.createSubscriber();
  const announced: (string | null)[] = [];
  try {
    limited.start();
    await waitFor('Redis', () => limited.health.isUp);
    const projectId = freshId();
    followProjectChanges(subscriber, (each) => announced.push(each));
    await waitFor('the subscription', () => announced.length === 1);
    await announceProjectChange(limited.redis, projectId);
    await waitFor('the announcement', () => announced.includes(projectId));
    await trustMemory(limited.redis, projectId);
    const keys = configMacKeys(parseSecretKeys(world.secretsKey));
    const configs = new ConfigCache({ cache: limited, keys, ttlSeconds: 60, onUntrusted: () => {} });
    expect(await configs.read(projectId, 0)).toEqual({ kind: 'absent' });
    expect(await countLiveWorkers(limited.redis, { workerId: 'one', withinMs: 60_000 })).toBe(1);
    await leaveLiveWorkers(limited.redis, 'one');
    const keyRequest = {
      projectId,
      webhookId: 'w',
      id: freshId(),
      payloadSha256: '',
      token: freshId(),
      contentKeys: [],
    };
    await markNearLimit(limited.redis, projectId);
    expect(await countNearLimit(limited.redis)).toBe(1);
    const limits = { rateLimitPerMinute: 1, idempotencyTtlSeconds: 60 };
    expect(await admit(limited, { ...keyRequest, ...limits })).toMatchObject({ isMine: true });
    expect(await acceptKeys(limited, { ...keyRequest, ...limits })).toBe(true);
    expect(await admit(limited, { ...keyRequest, ...limits })).toMatchObject({ held: { state: 'accepted' } });
    expect(await releaseKeys(limited, keyRequest)).toBe(true);
    await uncount(limited, keyRequest);
    expect(await isFirstConflict(limited, { ...keyRequest, ...limits })).toBe(true);
    await distrustMemory(limited.redis, projectId);
    expect(await evictionWarning(limited.redis)).toBeUndefined();
    expect(refused).toEqual([]);
  } finally {
    subscriber.disconnect();
    await limited.close();
  }
});

describe('a primary that becomes a replica behind a proxy', () => {
  let proxy: Server;
  let targetPort: number;
  /** A server of its own: a replica makes its primary fork, which delays every test file that uses the run's Redis. */
  let other: World;

  beforeAll(async () => {
    other = await createWorld(inject('run'), { own: ['redis'] });
  });

  afterAll(() => other?.close());

  beforeEach(async () => {
    targetPort = server.port;
    proxy = createServer((socket) => {
      const target = connect(targetPort, '127.0.0.1');
      socket.pipe(target).pipe(socket);
      for (const each of [socket, target])
        each.on('error', () => socket.destroy(target.destroy() && undefined));
    }).listen(0, '127.0.0.1');
    await waitFor('the proxy', () => proxy.listening);
  });

  afterEach(() => proxy.close());

  it('a primary that becomes a replica behind a proxy is left for the new primary', async () => {
    const oldPrimary = cache.redis;
    const proxiedUrl = new URL(other.redisUrl);
    const newPrimary = Number(proxiedUrl.port);
    proxiedUrl.port = String((proxy.address() as AddressInfo).port);
    const proxied = open(proxiedUrl.href);
    const usePassword = ({ password }: { password: string }) =>
      oldPrimary.config('SET', 'requirepass', password, 'masterauth', password);
    // Both servers of a failover have one password.
    await usePassword(proxiedUrl);
    try {
      proxied.start();
      await waitFor('Redis', () => proxied.health.isUp);
      targetPort = newPrimary;
      await oldPrimary.replicaof('127.0.0.1', newPrimary);
      const key = `client.test ${process.pid}`;
      await waitFor('a write', () => proxied.tryCommand((redis) => redis.set(key, '1', 'EX', 60)));
      expect(await proxied.tryCommand((redis) => redis.get(key))).toEqual({ value: '1' });
    } finally {
      await proxied.close();
      await oldPrimary.replicaof('NO', 'ONE');
      await usePassword(new URL(world.redisUrl));
    }
  });
});
