import type { RunningServer } from '@hqrelay/services/running-server';
import { waitFor } from '@hqrelay/testing/wait-for';
import { createWorld, type World } from '@hqrelay/testing/world';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { StoreState } from '@hqrelay/flow/store-health';
import { Cache } from '../src/client.ts';

describe('a Redis that comes and goes', () => {
  let world: World;
  let server: RunningServer;
  let cache: Cache;
  let states: StoreState[];

  beforeAll(async () => {
    world = await createWorld(inject('run'), { own: ['redis'] });
    server = world.servers.redis as RunningServer;
  });

  afterAll(() => world?.close());

  beforeEach(async () => {
    states = [];
    cache = new Cache({ url: world.redisUrl, name: 'test', onChange: (state) => states.push(state) });
    cache.start();
    await waitFor('Redis', () => cache.health.isUp);
  });

  afterEach(() => cache.close());

  it('is skipped at once while it is frozen, after one command has waited 100 ms for it', async () => {
    server.freeze();
    const startedAt = performance.now();
    expect(await ping()).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(400);
    expect(cache.health.state).toBe('blocked');
    const again = performance.now();
    for (let i = 0; i < 100; i += 1) expect(await ping()).toBeUndefined();
    expect(performance.now() - again).toBeLessThan(300);
    server.thaw();
    await waitFor('Redis', () => cache.health.isUp);
  });

  it('is up again after it was frozen, though nobody asks for anything', async () => {
    server.freeze();
    await ping();
    expect(states).toEqual(['up', 'blocked']);
    server.thaw();
    await waitFor('Redis', () => states.length === 3);
    expect(states).toEqual(['up', 'blocked', 'up']);
    expect(await ping()).toEqual({ value: 'PONG' });
  });

  it('is up again after a restart', async () => {
    await server.stop();
    await waitFor('the loss', () => cache.health.state === 'down');
    expect(await ping()).toBeUndefined();
    await server.start();
    await waitFor('Redis', () => cache.health.isUp);
    expect(await ping()).toEqual({ value: 'PONG' });
  });

  it('is waited for when it is not there yet', async () => {
    await cache.close();
    await server.stop();
    cache = new Cache({ url: world.redisUrl, name: 'test', onChange: (state) => states.push(state) });
    cache.start();
    await waitFor('the first try', () => cache.health.state === 'down');
    await server.start();
    await waitFor('Redis', () => cache.health.isUp);
  });

  it('that refuses a command says so, and is not gone for it', async () => {
    await expect(cache.tryCommand((redis) => redis.call('NO.SUCH.COMMAND'))).rejects.toThrow(
      'unknown command',
    );
    expect(cache.health.isUp).toBe(true);
  });

  it('that cannot write counts as gone', async () => {
    await cache.redis.config('SET', 'maxmemory', '1');
    expect(await cache.tryCommand((redis) => redis.set('key', 'value'))).toBeUndefined();
    expect(cache.health.state).toBe('blocked');
    await cache.redis.config('SET', 'maxmemory', '0');
    await waitFor('Redis', () => cache.health.isUp);
  });

  it('that cannot write in a script counts as gone, as Redis 6.2 says it too', async () => {
    const text =
      'ERR Error running script (call to f_1): @user_script: 12: -OOM command not allowed when used memory';
    const script = `return redis.error_reply("${text}")`;
    expect(await cache.tryCommand((redis) => redis.eval(script, 0))).toBeUndefined();
    expect(cache.health.state).toBe('blocked');
    await waitFor('Redis', () => cache.health.isUp);
  });

  const ping = () => cache.tryCommand((redis) => redis.ping());
});
