import { migrate } from '@hqrelay/db/migrate';
import {
  discardServers,
  startPrivateServices,
  type PrivateServers,
} from '@hqrelay/services/private-services';
import { killEveryServer } from '@hqrelay/services/process/server-process';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import pg from 'pg';

export const templateDatabase = 'hqrelay_template';
export const appUser = { name: 'hqrelay', password: 'test' };

export type RunUrls = {
  postgres: string;
  redis: string;
  rabbitmq: string;
  rabbitmqManagement: string;
  /** The folder of the run, removed at its end with all that a test leaves in it. */
  folder: string;
};

export type RunServices = {
  urls: RunUrls;
  servers: PrivateServers;
  /** Ends the servers and removes the folder, unless its logs are to be read. */
  stop: (options?: { keepFolder?: boolean }) => Promise<void>;
};

export type RunOptions = {
  /** Whether what a server has confirmed survives its death. */
  durable?: boolean;
  /** The start of the folder's name. Folders that dead processes left under the same start are removed. */
  folderPrefix?: string;
  postgresSettings?: readonly string[];
};

/**
 * Private servers in a throw-away folder, with a migrated database to clone. Both end with `stop`, and also when this process
 * exits before, as vitest does on a signal.
 */
export async function startRunServices(
  say: (line: string) => void,
  { durable = false, folderPrefix = 'hqrelay-test-', postgresSettings = [] }: RunOptions = {},
): Promise<RunServices> {
  const folder = makeThrowAwayFolder(folderPrefix);
  const removeAtExit = () => {
    killEveryServer();
    removeThrowAwayFolder(folder);
  };
  process.once('exit', removeAtExit);
  let servers: Partial<PrivateServers> = {};
  const stop: RunServices['stop'] = async ({ keepFolder = false } = {}) => {
    await discardServers(servers);
    process.off('exit', removeAtExit);
    if (!keepFolder) removeThrowAwayFolder(folder);
  };
  try {
    const started = await startPrivateServices({ dir: folder, durable, say, postgresSettings });
    servers = { postgres: started.postgres, redis: started.redis, rabbitmq: started.rabbitmq };
    await makeTemplate(started.postgres.url);
    return {
      urls: {
        postgres: started.postgres.url,
        redis: started.redis.url,
        rabbitmq: started.rabbitmq.url,
        rabbitmqManagement: started.rabbitmq.managementUrl,
        folder,
      },
      servers: started,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The migrated database that every test's own is cloned from. */
export async function makeTemplate(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  await migrate({
    migrationDatabaseUrl: databaseUrl(ownerUrl, templateDatabase),
    databaseUrl: databaseUrl(ownerUrl, templateDatabase, appUser),
  });
}

/** The same server, another database, and another user if one is given. */
export function databaseUrl(
  serverUrl: string,
  database: string,
  user?: { name: string; password: string },
): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (user) {
    url.username = user.name;
    url.password = user.password;
  }
  return url.href;
}
