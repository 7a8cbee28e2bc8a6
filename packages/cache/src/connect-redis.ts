import { parseRedisUrl, type RedisAddress } from '@hqrelay/domain/network/redis-url';
import { Redis, type RedisOptions } from 'ioredis';

/** A client that reconnects by itself, and fails a command at once while it is not connected. */
export function connectRedis(
  url: string,
  name: string,
  options: { commandTimeout?: number; enableReadyCheck?: boolean } = {},
): Redis {
  const address = parseRedisUrl(url);
  const all: RedisOptions = {
    connectionName: name,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    connectTimeout: 1_000,
    socketTimeout: 5_000,
    keepAlive: 5_000,
    maxLoadingRetryTime: 500,
    retryStrategy,
    ...options,
  };
  const redis = address.kind === 'server' ? new Redis(address.url, all) : connectBySentinel(address, all);
  // The client connects again by itself, and its state is reported; an unhandled 'error' event would end the process.
  redis.on('error', () => {});
  return redis;
}

/**
 * A client of the primary that the sentinels name. It asks them again on every connection and refuses a server that says it
 * is a replica. ioredis's own failover detector is not used: it can end the client for good while it reconnects.
 */
function connectBySentinel(
  { sentinels, master, username, password, db }: Extract<RedisAddress, { kind: 'sentinel' }>,
  options: RedisOptions,
): Redis {
  const redis = new Redis({
    ...options,
    sentinels,
    name: master,
    role: 'master',
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    sentinelCommandTimeout: 1_000,
    sentinelRetryStrategy: retryStrategy,
  });
  // Only sentinels that require a password get it: a sentinel without one refuses a user that it does not know.
  redis.on('sentinelError', (error: Error) => {
    if (/\bNOAUTH\b/.test(error.message)) {
      redis.options.sentinelUsername = username;
      redis.options.sentinelPassword = password;
    }
  });
  return redis;
}

function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 5), 1_000) * (0.5 + Math.random() / 2);
}
