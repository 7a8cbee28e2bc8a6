import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { findProgram } from '../programs.ts';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess } from '../process/server-process.ts';

export type PrivateRedisOptions = { dir: string; port: number; durable: boolean; password?: string };

/** Redis on 127.0.0.1. When durable, a crash of the machine may lose the writes of the last second. */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<RunningServer> {
  const { dir, port, password } = options;
  const command = findRedisServer();
  if (!command) throw new Error('Redis is not installed');
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, 'redis.conf');
  // A file, because arguments are visible in the process list.
  writeFileSync(configFile, settingsOf(options).join('\n'), { mode: 0o600 });
  chmodSync(configFile, 0o600);
  const credentials = password === undefined ? '' : `:${password}@`;
  return runServer({ url: `redis://${credentials}127.0.0.1:${port}`, port }, async () => {
    const server = new ServerProcess({
      name: 'Redis',
      command,
      args: [configFile],
      logFile: join(dir, 'redis.log'),
      stopSignal: 'SIGTERM',
    });
    await server.waitUntil(() => answersPing(port), 60_000);
    return server;
  });
}

function settingsOf({ dir, port, durable, password }: PrivateRedisOptions): string[] {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir "${dir}"`,
    'save ""',
    `appendonly ${durable ? 'yes' : 'no'}`,
    // An evicted id would let a duplicate through. The relay handles a refused write.
    'maxmemory-policy noeviction',
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    '',
  ];
}

export function findRedisServer(): string | undefined {
  return findProgram('redis-server', () =>
    ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path)),
  );
}

/** Without the password a Redis that is up answers a ping with an error that asks for it. */
function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => end(/^(\+PONG|-NOAUTH)/.test(data.toString())));
    socket.once('error', () => end(false)).once('timeout', () => end(false));
  });
}
