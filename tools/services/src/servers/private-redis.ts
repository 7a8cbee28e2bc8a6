import { existsSync, mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { findProgram } from '../programs.ts';
import { runServer, type RunningServer } from '../running-server.ts';
import { ServerProcess } from '../process/server-process.ts';

export type PrivateRedisOptions = { dir: string; port: number; durable: boolean };

/** Redis on 127.0.0.1. Durable keeps every write of the last second and before. */
export async function startPrivateRedis({ dir, port, durable }: PrivateRedisOptions): Promise<RunningServer> {
  const command = findRedisServer();
  if (!command) throw new Error('Redis is not installed');
  mkdirSync(dir, { recursive: true });
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    save: '',
    appendonly: durable ? 'yes' : 'no',
    // Forgetting an id would let a duplicate through: better to refuse a write, which the relay survives.
    'maxmemory-policy': 'noeviction',
  };
  return runServer({ url: `redis://127.0.0.1:${port}`, port }, async () => {
    const server = new ServerProcess({
      name: 'Redis',
      command,
      args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      logFile: join(dir, 'redis.log'),
      stopSignal: 'SIGTERM',
    });
    await server.waitUntil(() => answersPing(port), 15_000);
    return server;
  });
}

export function findRedisServer(): string | undefined {
  return findProgram('redis-server', () =>
    ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => existsSync(path)),
  );
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => end(data.toString().startsWith('+PONG')));
    socket.once('error', () => end(false)).once('timeout', () => end(false));
  });
}
