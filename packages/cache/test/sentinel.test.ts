import { startRedisSentinels, type RedisSentinels } from '@hqrelay/testing/servers/redis-sentinels';
import { waitFor } from '@hqrelay/testing/wait-for';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { Cache } from '../src/client.ts';

describe('a Redis behind three sentinels', () => {
  let group: RedisSentinels;
  let cache: Cache | undefined;

  async function start(options: Parameters<typeof startRedisSentinels>[0]): Promise<Cache> {
    group = await startRedisSentinels({ ...options, folder: inject('run').folder });
    cache = new Cache({ url: group.url, name: 'test', onChange: () => {} });
    cache.start();
    return cache;
  }

  afterEach(async () => {
    await cache?.close();
    await group.close();
  });

  /** Asks again while a busy machine makes Redis late. */
  const portOf = (client: Cache) =>
    waitFor('the port', () =>
      client.tryCommand(async (redis) => Number(/^tcp_port:(\d+)/m.exec(await redis.info('server'))?.[1])),
    );
  const isWritten = async (client: Cache) =>
    (await client.tryCommand((redis) => redis.set('k', 'v'))) !== undefined;

  it.each([
    ['a password that the sentinels do not ask for', { password: 'p@ss/word' }],
    ['a password that the sentinels ask for too', { password: 'p@ss/word', sentinelPassword: true }],
  ])('a Redis behind sentinels with %s is found', async (_which, options) => {
    const client = await start(options);
    await waitFor('Redis', () => client.health.isUp);
    expect(await portOf(client)).toEqual({ value: group.servers[0].port });
  });

  it('the client follows a failover to the replica when the primary is killed, and back', async () => {
    const client = await start({});
    await waitFor('Redis', () => client.health.isUp);
    const [first, second] = group.servers;
    await first.kill();
    await waitFor('the failover', () => isWritten(client));
    expect(await portOf(client)).toEqual({ value: second.port });
    await first.start();
    await waitFor('the old primary to be a replica', async () => {
      const info = await client.tryCommand((redis) => redis.info('replication'));
      return info?.value.includes('connected_slaves:1');
    });
    await second.kill();
    await waitFor('the failover back', () => isWritten(client));
    expect(await portOf(client)).toEqual({ value: first.port });
  });

  it('the client follows a failover when the primary freezes, and does not use the old primary when it thaws', async () => {
    const client = await start({});
    await waitFor('Redis', () => client.health.isUp);
    const [first, second] = group.servers;
    first.freeze();
    try {
      await waitFor('the failover', () => isWritten(client));
      expect(await portOf(client)).toEqual({ value: second.port });
    } finally {
      first.thaw();
    }
    expect(await portOf(client)).toEqual({ value: second.port });
  });

  it('the primary is found while two of three sentinels are down, and reported as down without any', async () => {
    const client = await start({});
    await waitFor('Redis', () => client.health.isUp);
    const [one, two, three] = group.sentinels;
    await Promise.all([one?.kill(), two?.kill()]);
    client.redis.disconnect(true);
    await waitFor('the loss', () => !client.health.isUp);
    await waitFor('Redis', () => client.health.isUp);
    await three?.kill();
    client.redis.disconnect(true);
    await waitFor('the reason', () => client.health.detail?.includes('All sentinels are unreachable'));
    expect(client.health.state).toBe('down');
    await one?.start();
    await waitFor('Redis', () => client.health.isUp);
  });
});
