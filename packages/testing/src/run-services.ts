import { migrate } from '@hqrelay/db/migrate';
import { startPrivateServices } from '@hqrelay/services/private-services';
import { killEveryServer } from '@hqrelay/services/server-process';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import pg from 'pg';

export const templateDatabase = 'hqrelay_template';
export const appUser = { name: 'hqrelay', password: 'test' };

export type RunUrls = {
  postgres: string;
  redis: string;
  rabbitmq: string;
  rabbitmqManagement: string;
  /** Of the run, gone after it: what a test leaves there goes too. */
  folder?: string;
};

/**
 * Private servers in a throw-away folder, with a migrated database to clone. Everything is gone after `stop`, and when
 * this process exits before: whoever runs us may do that at once on a signal.
 */
export async function startRunServices(
  say: (line: string) => void,
  options: { durable?: boolean } = {},
): Promise<{ urls: RunUrls; stop: () => Promise<void> }> {
  const dir = makeThrowAwayFolder('hqrelay-test-');
  const removeAtExit = () => {
    killEveryServer();
    removeThrowAwayFolder(dir);
  };
  process.once('exit', removeAtExit);
  const remove = () => {
    process.off('exit', removeAtExit);
    removeThrowAwayFolder(dir);
  };
  const services = await startPrivateServices({ dir, durable: options.durable ?? false, say }).catch(
    (error: unknown) => {
      remove();
      throw error;
    },
  );
  const stop = async () => {
    await services.discard();
    remove();
  };
  try {
    await makeTemplate(services.postgres.url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls: {
      postgres: services.postgres.url,
      redis: services.redis.url,
      rabbitmq: services.rabbitmq.url,
      rabbitmqManagement: services.rabbitmq.managementUrl,
      folder: dir,
    },
    stop,
  };
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
