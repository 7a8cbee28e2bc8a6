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
/** May do all that the apps may: tests set up with it what they need. */
export const appUser = { name: 'hqrelay', password: 'test' };

const ownUsers = {
  RECEIVER_DATABASE_URL: { name: 'hqrelay_in', password: 'test' },
  WORKER_DATABASE_URL: { name: 'hqrelay_out', password: 'test' },
  CONSOLE_DATABASE_URL: { name: 'hqrelay_admin', password: 'test' },
} as const;

/** The URLs that the apps of a database run with: a user with the privileges of its program alone for each. */
export function ownDatabaseUrls(serverUrl: string, database: string): Record<keyof typeof ownUsers, string> {
  const urlOf = (name: keyof typeof ownUsers) => databaseUrl(serverUrl, database, ownUsers[name]);
  return {
    RECEIVER_DATABASE_URL: urlOf('RECEIVER_DATABASE_URL'),
    WORKER_DATABASE_URL: urlOf('WORKER_DATABASE_URL'),
    CONSOLE_DATABASE_URL: urlOf('CONSOLE_DATABASE_URL'),
  };
}

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
  const own = ownDatabaseUrls(ownerUrl, templateDatabase);
  await migrate({
    migrationDatabaseUrl: databaseUrl(ownerUrl, templateDatabase),
    databaseUrl: databaseUrl(ownerUrl, templateDatabase, appUser),
    receiverDatabaseUrl: own.RECEIVER_DATABASE_URL,
    workerDatabaseUrl: own.WORKER_DATABASE_URL,
    consoleDatabaseUrl: own.CONSOLE_DATABASE_URL,
  });
  // Tests also record what was days ago, which on the first days of a month is in the month before.
  const template = new pg.Client({ connectionString: databaseUrl(ownerUrl, templateDatabase) });
  await template.connect();
  await template.query("select hqrelay_ensure_partition(now() - interval '1 month')");
  await template.end();
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
