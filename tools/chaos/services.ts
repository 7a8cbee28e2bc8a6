import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPrivateServices } from '@hqrelay/services/private-services';
import type { RunningServer } from '@hqrelay/services/running-server';
import { killEveryServer } from '@hqrelay/services/server-process';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import { makeTemplate, type RunUrls } from '@hqrelay/testing/run-services';
import type { ServiceName } from './site.ts';

/** Private, durable servers in a throw-away folder, which rows may stop, kill and start again. */
export type ChaosServices = {
  urls: RunUrls;
  /** Of the whole run: servers, logs and copies of the apps. */
  folder: string;
  server: (name: ServiceName) => RunningServer;
  /** RabbitMQ's own tool, at this broker. */
  rabbitmqctl: (...args: string[]) => Promise<void>;
  /** Starts whatever a row left stopped. */
  restore: () => Promise<void>;
  /** Ends all and removes the folder, or says where the logs are. */
  stop: (options?: { keepLogs?: boolean }) => Promise<void>;
};

export async function startChaosServices(
  say: (line: string) => void,
  options: { postgresSettings?: readonly string[] } = {},
): Promise<ChaosServices> {
  const folder = makeThrowAwayFolder('hqrelay-chaos-');
  const removeAtExit = () => {
    killEveryServer();
    removeThrowAwayFolder(folder);
  };
  process.once('exit', removeAtExit);
  const servers = await startPrivateServices({
    dir: folder,
    durable: true,
    say,
    ...(options.postgresSettings && { postgresSettings: options.postgresSettings }),
  });
  const stop: ChaosServices['stop'] = async ({ keepLogs = false } = {}) => {
    await servers.discard();
    process.off('exit', removeAtExit);
    if (keepLogs) say(`The logs are in ${folder} until the next run`);
    else removeThrowAwayFolder(folder);
  };
  try {
    await makeTemplate(servers.postgres.url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls: {
      postgres: servers.postgres.url,
      redis: servers.redis.url,
      rabbitmq: servers.rabbitmq.url,
      rabbitmqManagement: servers.rabbitmq.managementUrl,
    },
    folder,
    server: (name) => servers[name],
    rabbitmqctl: (...args) => rabbitmqctl(folder, args),
    restore: async () => {
      for (const { port, start } of [servers.postgres, servers.redis, servers.rabbitmq]) {
        if (!(await listens(port))) await start();
      }
    },
    stop,
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

async function rabbitmqctl(folder: string, args: readonly string[]): Promise<void> {
  const ports = JSON.parse(readFileSync(join(folder, 'ports.json'), 'utf8')) as {
    rabbitmq: { epmd: number };
  };
  await promisify(execFile)('/usr/lib/rabbitmq/bin/rabbitmqctl', ['-n', 'hqrelay@localhost', ...args], {
    env: {
      ...process.env,
      // Where the cookie lies that lets it in.
      HOME: join(folder, 'rabbitmq/home'),
      ERL_EPMD_PORT: String(ports.rabbitmq.epmd),
      RABBITMQ_CONF_ENV_FILE: join(folder, 'rabbitmq/none.conf'),
    },
  });
}
