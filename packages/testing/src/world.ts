import { randomBytes } from 'node:crypto';
import {
  startPrivateServers,
  discardServers,
  type PrivateServers,
  type ServiceName,
} from '@hqrelay/services/private-services';
import { makeThrowAwayFolder, removeThrowAwayFolder } from '@hqrelay/services/throw-away-folder';
import pg from 'pg';
import { mountDisk } from './servers/mount-disk.ts';
import { waitFor } from './wait-for.ts';
import {
  appUser,
  databaseUrl,
  makeTemplate,
  ownDatabaseUrls,
  templateDatabase,
  type RunUrls,
} from './run-services.ts';

export type World = {
  /** As a user that may do all that the apps may. */
  databaseUrl: string;
  ownerDatabaseUrl: string;
  redisUrl: string;
  rabbitmqUrl: string;
  rabbitmqManagementUrl: string;
  secretsKey: string;
  /** For an app or the command line tool, each as a Postgres user of its own. */
  env: Record<string, string>;
  /** As the owner: tests look where no app may. */
  sql: pg.Pool;
  /** Servers of this world's own, where it asked for some. */
  servers: Partial<PrivateServers>;
  /** Where their data lies. */
  folder: string | undefined;
  close: () => Promise<void>;
};

/**
 * A database, a virtual host and a Redis of one test file's own, so that files run side by side. `own` names servers that
 * the file may kill; the others are the run's.
 */
export async function createWorld(
  run: RunUrls,
  options: {
    own?: readonly ServiceName[];
    durable?: boolean;
    /** Its own servers' data lies on a disk of this size, in memory. For root alone. */
    diskMib?: number;
  } = {},
): Promise<World> {
  const own = options.own ?? [];
  if (own.length === 0) return openWorld(run, {}, async () => {}, undefined);
  const dir = makeThrowAwayFolder('hqrelay-world-', run.folder);
  const disk = options.diskMib === undefined ? undefined : mountDisk(dir, options.diskMib);
  let servers: Partial<PrivateServers> = {};
  const discard = async () => {
    await discardServers(servers);
    disk?.unmount();
    removeThrowAwayFolder(dir);
  };
  try {
    servers = await startPrivateServers(own, { dir, durable: options.durable ?? false, say: () => {} });
    return await openWorld(run, servers, discard, dir);
  } catch (error) {
    await discard();
    throw error;
  }
}

async function openWorld(
  run: RunUrls,
  servers: Partial<PrivateServers>,
  discardOwn: () => Promise<void>,
  folder: string | undefined,
): Promise<World> {
  const name = `world_${randomBytes(6).toString('hex')}`;
  const serverUrl = servers.postgres?.url ?? run.postgres;
  if (servers.postgres) await makeTemplate(serverUrl);
  await withClient(serverUrl, (client) => cloneTemplate(client, name));
  const ownerDatabaseUrl = databaseUrl(serverUrl, name);
  const sql = openPool(ownerDatabaseUrl);

  const rabbitmqManagementUrl = servers.rabbitmq?.managementUrl ?? run.rabbitmqManagement;
  if (!servers.rabbitmq) await virtualHost(rabbitmqManagementUrl, 'PUT', name);
  const urls = {
    databaseUrl: databaseUrl(serverUrl, name, appUser),
    ownerDatabaseUrl,
    redisUrl: servers.redis?.url ?? run.redis,
    rabbitmqUrl: servers.rabbitmq?.url ?? `${run.rabbitmq}/${name}`,
    secretsKey: randomBytes(32).toString('base64'),
  };
  return {
    ...urls,
    rabbitmqManagementUrl,
    env: { ...environmentOf(urls), ...ownDatabaseUrls(serverUrl, name) },
    sql,
    servers,
    folder,
    close: async () => {
      // First: a connection to a server that is frozen would never end.
      await discardOwn();
      await sql.end();
      if (!servers.postgres) await dropDatabase(serverUrl, name);
      if (!servers.rabbitmq) await virtualHost(rabbitmqManagementUrl, 'DELETE', name);
    },
  };
}

/** Tries again while another session, such as one of autovacuum, is connected to the template. */
async function cloneTemplate(client: pg.Client, name: string): Promise<void> {
  await waitFor('a copy of the template', async () => {
    await client.query(`create database ${name} template ${templateDatabase}`);
    return true;
  });
}

function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  // A test may end the server of the pool's connections.
  pool.on('error', () => {});
  return pool;
}

type Urls = Pick<World, 'databaseUrl' | 'ownerDatabaseUrl' | 'redisUrl' | 'rabbitmqUrl' | 'secretsKey'>;

function environmentOf(urls: Urls): Record<string, string> {
  return {
    DATABASE_URL: urls.databaseUrl,
    MIGRATION_DATABASE_URL: urls.ownerDatabaseUrl,
    REDIS_URL: urls.redisUrl,
    RABBITMQ_URL: urls.rabbitmqUrl,
    HQRELAY_SECRETS_KEY: urls.secretsKey,
    ALLOW_PRIVATE_ENDPOINTS: 'true',
  };
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    // A pool that has just been ended may still be closing its connections; cut off then, it would throw in its test.
    for (let tries = 0; tries < 200; tries += 1) {
      const { rowCount } = await client.query('select from pg_stat_activity where datname = $1', [name]);
      if (!rowCount) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await client.query(`drop database ${name} with (force)`);
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function virtualHost(managementUrl: string, method: 'PUT' | 'DELETE', name: string): Promise<void> {
  const { origin, username, password } = new URL(managementUrl);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  await waitFor(`${method} of virtual host ${name}`, async () => {
    const { ok, status } = await fetch(`${origin}/api/vhosts/${name}`, {
      method,
      headers: { authorization },
    });
    // 404: a request before was answered too late.
    if (ok || (method === 'DELETE' && status === 404)) return true;
    throw new Error(`answered ${status}`);
  });
}
