import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scramVerifier } from '@hqrelay/db/roles/scram-verifier';
import pg from 'pg';
import { whyNotInstallable, type Say } from '../servers/debian-packages.ts';
import { findCompose, startWithCompose } from './docker-services.ts';
import { findLocalServer, type LocalServer } from './local-servers.ts';
import { missingPackages, startPrivateServers, stopServers, type ServiceName } from '../private-services.ts';

export type FoundServices = {
  urls: { DATABASE_URL: string; MIGRATION_DATABASE_URL: string; REDIS_URL: string; RABBITMQ_URL: string };
  /** Stops the services that were started here, and no other. */
  stop: () => Promise<void>;
};

export type FindServicesOptions = {
  /** The folder of the repository, with `docker-compose.yml`. */
  root: string;
  /** Where private servers keep their data and their passwords. */
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  say: Say;
  /** Replaces the look at the default ports, for tests. */
  findLocal?: Readonly<Record<ServiceName, () => Promise<LocalServer>>>;
};

const serviceNames = ['postgres', 'redis', 'rabbitmq'] as const;
const urlVariables = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', rabbitmq: 'RABBITMQ_URL' } as const;
const appUser = 'hqrelay';

/**
 * Takes each service from the first of these: the URL in the environment, a local server on its default port, a Docker engine,
 * the machine's packages. Reports the choice and its reason. Throws an error with the command to run when none is possible.
 */
export async function findServices(options: FindServicesOptions): Promise<FoundServices> {
  const { dir, env, say } = options;
  refuseEmpty(env);
  refuseUsersWithoutDatabase(env);
  mkdirSync(dir, { recursive: true });
  const passwords = persistentPasswords(join(dir, 'passwords.json'));
  const urls = new Map<ServiceName, string>();
  for (const name of serviceNames) {
    const url = env[urlVariables[name]] ?? (await localUrl(name, options));
    if (env[urlVariables[name]]) say(`${name}: the server of ${urlVariables[name]}`);
    if (url) urls.set(name, url);
  }
  const missing = serviceNames.filter((name) => !urls.has(name));
  const started = missing.length > 0 ? await startMissing(missing, urls, passwords, options) : async () => {};
  try {
    return { urls: await urlsOf(urls, env, passwords, say), stop: started };
  } catch (error) {
    await started();
    throw error;
  }
}

/** An empty variable is a mistake in the environment, not a request for another server. */
function refuseEmpty(env: FindServicesOptions['env']): void {
  const empty = [...Object.values(urlVariables), 'MIGRATION_DATABASE_URL'].filter(
    (name) => env[name]?.trim() === '',
  );
  if (empty.length > 0) {
    throw new Error(`${empty.join(', ')}: empty. Give it a URL, or take it out of the environment and .env.`);
  }
}

/** The apps would work in the database of these URLs while the one that is found here is migrated. */
function refuseUsersWithoutDatabase(env: FindServicesOptions['env']): void {
  if (env['DATABASE_URL'] !== undefined) return;
  const own = ['RECEIVER_DATABASE_URL', 'WORKER_DATABASE_URL', 'CONSOLE_DATABASE_URL'].filter(
    (name) => env[name] !== undefined,
  );
  if (own.length > 0) {
    throw new Error(
      `${own.join(', ')} without DATABASE_URL: set it too, or take them out of the environment and .env.`,
    );
  }
}

async function localUrl(
  name: ServiceName,
  { say, findLocal = findLocalServer }: FindServicesOptions,
): Promise<string | undefined> {
  const local = await findLocal[name]();
  switch (local.kind) {
    case 'usable':
      say(`${name}: the local server on its default port (no ${urlVariables[name]} in the environment)`);
      return local.url;
    case 'passed_over':
      say(`${name}: ${local.reason}`);
      return undefined;
    case 'absent':
      return undefined;
  }
}

async function startMissing(
  missing: readonly ServiceName[],
  urls: Map<ServiceName, string>,
  passwords: Passwords,
  options: FindServicesOptions,
): Promise<() => Promise<void>> {
  const compose = findCompose();
  if (!compose) return startPrivate(missing, 'no Docker engine', urls, options);
  try {
    return await startContainers(compose, missing, urls, passwords, options);
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    options.say(`the containers did not start: ${reason}`);
    return startPrivate(missing, 'a Docker engine that could not start them', urls, options);
  }
}

async function startContainers(
  compose: readonly string[],
  missing: readonly ServiceName[],
  urls: Map<ServiceName, string>,
  passwords: Passwords,
  { root, env, say }: FindServicesOptions,
): Promise<() => Promise<void>> {
  say(
    `${missing.join(', ')}: containers of docker-compose.yml (no URL, no local server, but a Docker engine)`,
  );
  const stop = await startWithCompose(compose, missing, {
    root,
    env: {
      POSTGRES_PASSWORD: passwords.owner,
      // docker-compose.yml asks for every variable that it names, also those of the apps, which do not run in containers here.
      POSTGRES_RECEIVER_PASSWORD: 'unused-by-the-stores',
      POSTGRES_WORKER_PASSWORD: 'unused-by-the-stores',
      POSTGRES_CONSOLE_PASSWORD: 'unused-by-the-stores',
      POSTGRES_GRAFANA_PASSWORD: 'unused-by-the-stores',
      GRAFANA_PASSWORD: 'unused-by-the-stores',
      REDIS_PASSWORD: passwords.redis,
      RABBITMQ_PASSWORD: passwords.rabbitmq,
      HQRELAY_SECRETS_KEY: env['HQRELAY_SECRETS_KEY'] ?? 'unused-by-the-stores',
    },
    say,
  });
  const at = (variable: string, port: number) => `127.0.0.1:${env[variable] ?? port}`;
  const composeUrls = {
    postgres: `postgres://hqrelay_owner:${passwords.owner}@${at('POSTGRES_PORT', 5432)}/postgres`,
    redis: `redis://:${passwords.redis}@${at('REDIS_PORT', 6379)}`,
    rabbitmq: `amqp://hqrelay:${passwords.rabbitmq}@${at('RABBITMQ_PORT', 5672)}/hqrelay`,
  };
  for (const name of missing) urls.set(name, composeUrls[name]);
  return stop;
}

async function startPrivate(
  missing: readonly ServiceName[],
  docker: string,
  urls: Map<ServiceName, string>,
  { dir, say }: FindServicesOptions,
): Promise<() => Promise<void>> {
  const packages = missingPackages(missing);
  const whyNot = packages.length > 0 ? whyNotInstallable(packages) : undefined;
  if (whyNot) {
    throw new Error(
      `There is no ${missing.join(', no ')}: no URL in the environment, no local server, ${docker}. ${whyNot}`,
    );
  }
  say(
    `${missing.join(', ')}: private servers from the system's packages (no URL, no local server, ${docker})`,
  );
  const servers = await startPrivateServers(missing, { dir, durable: true, management: false, say });
  for (const [name, server] of Object.entries(servers)) {
    urls.set(name as ServiceName, server.url);
    say(`  ${name} listens on 127.0.0.1:${server.port}`);
  }
  return () => stopServers(servers);
}

/** A URL of the environment is used unchanged. In any other Postgres the found login owns the schema, and the apps get a role. */
async function urlsOf(
  urls: ReadonlyMap<ServiceName, string>,
  env: FindServicesOptions['env'],
  passwords: Passwords,
  say: Say,
): Promise<FoundServices['urls']> {
  const postgres = urls.get('postgres') as string;
  const others = { REDIS_URL: urls.get('redis') as string, RABBITMQ_URL: urls.get('rabbitmq') as string };
  if (env['DATABASE_URL']) {
    return {
      ...others,
      DATABASE_URL: postgres,
      MIGRATION_DATABASE_URL: env['MIGRATION_DATABASE_URL'] ?? postgres,
    };
  }
  await ensureDatabase(postgres, passwords.app, say);
  const owner = new URL(postgres);
  owner.pathname = '/hqrelay';
  const app = new URL(owner);
  app.username = appUser;
  app.password = passwords.app;
  return { ...others, DATABASE_URL: app.href, MIGRATION_DATABASE_URL: owner.href };
}

async function ensureDatabase(serverUrl: string, appPassword: string, say: Say): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'hqrelay'");
    if (!rowCount) {
      say('postgres: creating the database hqrelay');
      await client.query('create database hqrelay');
    }
    // The role of an earlier run may have another password than the file has now.
    const password = pg.escapeLiteral(await scramVerifier(appPassword));
    await client.query(
      `do $$ begin if exists (select from pg_roles where rolname = '${appUser}') then alter role ${appUser} login password ${password}; end if; end $$`,
    );
  } finally {
    await client.end();
  }
}

type Passwords = { owner: string; app: string; redis: string; rabbitmq: string };

/** The passwords in the file, and new ones for those that it lacks. */
function persistentPasswords(file: string): Passwords {
  const make = () => randomBytes(18).toString('hex');
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Passwords>) : {};
  const passwords = { owner: make(), app: make(), redis: make(), rabbitmq: make(), ...earlier };
  writeFileSync(file, JSON.stringify(passwords), { mode: 0o600 });
  return passwords;
}
