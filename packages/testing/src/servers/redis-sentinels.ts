import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '@hqrelay/services/free-port';
import { listens } from '@hqrelay/services/listens';
import { ServerProcess } from '@hqrelay/services/process/server-process';
import { runServer, type RunningServer } from '@hqrelay/services/running-server';
import { findRedisServer, startPrivateRedis } from '@hqrelay/services/servers/private-redis';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { Redis } from 'ioredis';
import { waitFor } from '../wait-for.ts';

export type RedisSentinels = {
  /** As `REDIS_URL` names it. */
  url: string;
  /** The first is the primary at the start, the other its replica. */
  servers: readonly [RunningServer, RunningServer];
  sentinels: readonly RunningServer[];
  /** The port of the primary that the sentinels name. */
  primaryPort: () => Promise<number>;
  close: () => Promise<void>;
};

type Options = {
  /** Of Redis. */
  password?: string;
  /** Whether the sentinels ask for that password too. */
  sentinelPassword?: boolean;
  folder?: string | undefined;
};

const master = 'hqrelay';
const quorum = 2;

/**
 * A primary, its replica and three sentinels on 127.0.0.1, which fail over within about four seconds. Sentinels that wait less
 * would replace a primary that a busy machine has delayed.
 */
export async function startRedisSentinels(options: Options = {}): Promise<RedisSentinels> {
  const { password } = options;
  const sentinelPassword = options.sentinelPassword ? password : undefined;
  const dir = makeThrowAwayFolder('hqrelay-sentinel-', options.folder);
  const [primaryPort = 0, replicaPort = 0, ...sentinelPorts] = await freePorts(5);
  const running: RunningServer[] = [];
  const close = async () => {
    await Promise.all(running.map((server) => server.discard()));
    removeThrowAwayFolder(dir);
  };
  try {
    for (const port of [primaryPort, replicaPort]) {
      running.push(await startPrivateRedis({ dir: join(dir, String(port)), port, durable: false }));
    }
    const servers = running.slice() as [RunningServer, RunningServer];
    await Promise.all(servers.map((server) => setUp(server, primaryPort, password)));
    for (const port of sentinelPorts) {
      const settings = sentinelSettings(port, primaryPort, password, sentinelPassword);
      running.push(await startSentinel(join(dir, String(port)), port, settings));
    }
    const sentinels = running.slice(2);
    await waitUntilComplete(sentinels, sentinelPassword);
    return {
      url: urlOf(sentinelPorts, password),
      servers,
      sentinels,
      primaryPort: async () => Number((await watched(sentinelPorts[0] as number, sentinelPassword))['port']),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function urlOf(sentinelPorts: readonly number[], password: string | undefined): string {
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return `redis+sentinel://${credentials}${sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')}/${master}`;
}

async function waitUntilComplete(
  sentinels: readonly RunningServer[],
  password: string | undefined,
): Promise<void> {
  await waitFor('the sentinels to know each other and the replica', async () => {
    const known = await Promise.all(sentinels.map(({ port }) => watched(port, password)));
    return known.every((each) => each['num-other-sentinels'] === '2' && each['num-slaves'] === '1');
  });
}

/** Makes the server the primary or its replica. */
async function setUp(
  server: RunningServer,
  primaryPort: number,
  password: string | undefined,
): Promise<void> {
  const redis = new Redis(server.url);
  try {
    if (password !== undefined) await redis.config('SET', 'masterauth', password, 'requirepass', password);
    if (server.port === primaryPort) return;
    await redis.replicaof('127.0.0.1', primaryPort);
    await waitFor('the replica', async () =>
      (await redis.info('replication')).includes('master_link_status:up'),
    );
  } finally {
    redis.disconnect();
  }
}

function sentinelSettings(
  port: number,
  primaryPort: number,
  password: string | undefined,
  sentinelPassword: string | undefined,
): string[] {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${master} 127.0.0.1 ${primaryPort} ${quorum}`,
    `sentinel down-after-milliseconds ${master} 3000`,
    `sentinel failover-timeout ${master} 5000`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${master} ${password}`]),
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
  ];
}

async function startSentinel(dir: string, port: number, settings: readonly string[]): Promise<RunningServer> {
  const command = findRedisServer();
  if (!command) throw new Error('Redis is not installed');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'sentinel.conf');
  writeFileSync(file, [`dir ${dir}`, ...settings, ''].join('\n'));
  return runServer({ url: `redis://127.0.0.1:${port}`, port }, async () => {
    const server = new ServerProcess({
      name: 'Sentinel',
      command,
      args: [file, '--sentinel'],
      logFile: join(dir, 'sentinel.log'),
      stopSignal: 'SIGTERM',
    });
    await server.waitUntil(() => listens(port), 60_000);
    return server;
  });
}

/** The primary as a sentinel describes it. */
async function watched(port: number, password: string | undefined): Promise<Record<string, string>> {
  const sentinel = new Redis({
    port,
    host: '127.0.0.1',
    protocol: 2,
    ...(password !== undefined && { password }),
  });
  try {
    const fields = (await sentinel.call('SENTINEL', 'MASTER', master)) as string[];
    const names = fields.filter((_, index) => index % 2 === 0);
    return Object.fromEntries(names.map((name, index) => [name, fields[2 * index + 1] as string]));
  } finally {
    sentinel.disconnect();
  }
}
