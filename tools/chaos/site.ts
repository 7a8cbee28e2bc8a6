import { join } from 'node:path';
import { migrate } from '@hqrelay/db/migrate';
import type { AppProcess, AppSource } from '@hqrelay/services/app-process';
import type { ServiceName } from '@hqrelay/services/private-services';
import type { RunningServer } from '@hqrelay/services/running-server';
import { startTcpProxy, type TcpProxy } from '@hqrelay/testing/network/tcp-proxy';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { DurableServices } from '../harness/durable-services.ts';
import { startFleet, type Fleet } from '../harness/fleet.ts';
import { addProject, changeEndpoint, type TargetProject } from '../harness/projects.ts';
import { faultEnvironment, type InjectedFault } from './faults/injected-fault.ts';
import { startEndpoint, type Endpoint } from './endpoint.ts';
import type { PreviousVersion } from './previous-version.ts';
import { targetsOf, type EndpointName, type Target } from './targets.ts';

/** The database, apps and endpoints of one row; the servers are shared unless the row has its own. */
export type Site = {
  world: World;
  services: DurableServices;
  /** Of the previous version, where the row starts with it. */
  receivers: readonly AppProcess[];
  workers: readonly AppProcess[];
  projects: readonly TargetProject[];
  /** By the id in the tables. */
  endpoints: ReadonlyMap<string, Endpoint>;
  /** By name. */
  endpoint: (name: EndpointName) => Endpoint;
  /** Sets columns of the endpoint's row, such as `paused = true`: committed, and announced to the apps. */
  changeEndpoint: (name: EndpointName, changes: string) => Promise<void>;
  /** The row's own, or the run's. */
  server: (name: ServiceName) => RunningServer;
  /** Between the apps and a service that the row named. */
  proxy: (name: ServiceName) => TcpProxy;
  /** Between each worker and Postgres, in the order of `workers`, where the row asked for them. */
  workerProxies: readonly TcpProxy[];
  /** Applies the migrations of this version, for a row that started with the tables of the previous one. */
  migrate: () => Promise<void>;
  /** Starts receivers and workers of this version beside those that run, and waits until all are ready. */
  startBeside: () => Promise<Fleet>;
  /** Ends every app that runs. */
  endApps: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  close: () => Promise<void>;
};

export type SiteOptions = {
  services: DurableServices;
  apps: AppSource;
  /** The version that the row starts with, instead of `apps`. */
  previous?: PreviousVersion | undefined;
  /** Servers of the row's own. */
  ownServers: readonly ServiceName[];
  /** Services that the apps reach through a proxy. */
  proxied: readonly ServiceName[];
  /** Whether each worker reaches Postgres through a proxy of its own. */
  workersProxied: boolean;
  /** Modules that workers load first. */
  workerPreload: readonly string[];
  /** Whether some deliveries use up their schedule, and some are held. */
  everyEnd: boolean;
  /** Whether there is an ordered endpoint. */
  ordered: boolean;
  /** The guard that the apps run without. */
  fault?: InjectedFault | undefined;
  logFolder: string;
};

/** Everything that the site closes at its end, in the order in which it was opened. */
type Opened = {
  world: World;
  proxies: Map<ServiceName, TcpProxy>;
  workerProxies: TcpProxy[];
  endpoints: Map<string, Endpoint>;
  fleets: Fleet[];
};

const appsOfEach = 2;

/** Several projects with one to two endpoints, two receivers and two workers, ready. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const { services, previous, ownServers } = options;
  const world = await createWorld(services.urls, { own: ownServers, durable: true });
  const opened: Opened = {
    world,
    proxies: new Map(),
    workerProxies: [],
    endpoints: new Map(),
    fleets: [],
  };
  const server = (name: ServiceName) => world.servers[name] ?? services.server(name);
  try {
    await previous?.migrate(world);
    await openProxies(opened, options, server);
    const projects: TargetProject[] = [];
    for (const targets of targetsOf(options)) {
      projects.push(await addTargets(opened, targets, previous?.addProject ?? addProject));
    }
    if (options.everyEnd) await changeEndpoint(world, idOf(opened, 'paused'), 'paused = true');
    const fleet = await startApps(
      opened,
      options,
      previous ? { kind: 'built', folder: previous.folder } : undefined,
    );
    return siteOf(opened, options, { server, projects, fleet });
  } catch (error) {
    await close(opened);
    throw error;
  }
}

function siteOf(
  opened: Opened,
  options: SiteOptions,
  { server, projects, fleet }: Pick<Site, 'server' | 'projects'> & { fleet: Fleet },
): Site {
  const { world, endpoints, proxies, workerProxies } = opened;
  return {
    world,
    services: options.services,
    receivers: fleet.receivers,
    workers: fleet.workers,
    projects,
    endpoints,
    endpoint: (name) => existing(endpoints.get(idOf(opened, name)), `endpoint ${name}`),
    changeEndpoint: (name, changes) => changeEndpoint(world, idOf(opened, name), changes),
    server,
    proxy: (name) => existing(proxies.get(name), `proxy of ${name}`),
    workerProxies,
    migrate: async () => {
      const { RECEIVER_DATABASE_URL, WORKER_DATABASE_URL, CONSOLE_DATABASE_URL } = world.env;
      await migrate({
        migrationDatabaseUrl: world.ownerDatabaseUrl,
        databaseUrl: world.databaseUrl,
        receiverDatabaseUrl: RECEIVER_DATABASE_URL,
        workerDatabaseUrl: WORKER_DATABASE_URL,
        consoleDatabaseUrl: CONSOLE_DATABASE_URL,
      });
    },
    startBeside: () => startApps(opened, options),
    endApps: (signal) => endApps(opened, signal),
    close: () => close(opened),
  };
}

async function openProxies(
  { proxies, workerProxies }: Opened,
  { proxied, workersProxied }: SiteOptions,
  server: Site['server'],
): Promise<void> {
  for (const name of proxied) proxies.set(name, await startTcpProxy(server(name).port));
  while (workersProxied && workerProxies.length < appsOfEach) {
    workerProxies.push(await startTcpProxy(server('postgres').port));
  }
}

async function startApps(opened: Opened, options: SiteOptions, from = options.apps): Promise<Fleet> {
  const { world, proxies, workerProxies, fleets } = opened;
  const fleet = await startFleet({
    from,
    receivers: appsOfEach,
    workers: appsOfEach,
    env: { ...world.env, ...proxiedUrls(world, proxies), ...faultEnvironment(options.fault) },
    workerEnv: (index) => {
      const own = workerProxies.slice(index, index + 1).map((proxy) => ['postgres', proxy] as const);
      return proxiedUrls(world, new Map(own));
    },
    logFolder: options.logFolder,
    ...(fleets.length > 0 && { prefix: 'new ' }),
    workerPreload: options.workerPreload,
    preload: options.fault ? [faultPreload] : [],
  });
  fleets.push(fleet);
  return fleet;
}

async function endApps({ fleets }: Opened, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await Promise.all(fleets.map((fleet) => fleet.end(signal)));
}

async function close(opened: Opened): Promise<void> {
  await endApps(opened, 'SIGKILL');
  await Promise.all([...opened.proxies.values(), ...opened.workerProxies].map((proxy) => proxy.close()));
  await Promise.all([...opened.endpoints.values()].map((each) => each.shut()));
  await opened.world.close();
}

async function addTargets(
  { world, endpoints }: Opened,
  targets: readonly Target[],
  add: typeof addProject,
): Promise<TargetProject> {
  const started = await Promise.all(targets.map(({ name, how }) => startEndpoint(name, how)));
  const project = await add(
    world,
    targets.map(({ retry, timeoutMs, orderingKey }, index) => ({
      url: existing(started[index], 'endpoint').url,
      retry,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(orderingKey !== undefined && { orderingKey }),
    })),
  );
  for (const [index, id] of project.endpointIds.entries()) {
    endpoints.set(id, existing(started[index], 'endpoint'));
  }
  return project;
}

function idOf({ endpoints }: Opened, name: EndpointName): string {
  const found = [...endpoints].find(([, each]) => each.name === name);
  return existing(found, `endpoint ${name}`)[0];
}

function existing<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what} at this site`);
  return found;
}

function proxiedUrls(world: World, proxies: ReadonlyMap<ServiceName, TcpProxy>): Record<string, string> {
  const names = {
    postgres: ['DATABASE_URL', 'RECEIVER_DATABASE_URL', 'WORKER_DATABASE_URL'],
    redis: ['REDIS_URL'],
    rabbitmq: ['RABBITMQ_URL'],
  } as const;
  return Object.fromEntries(
    [...proxies].flatMap(([service, { port }]) =>
      names[service].map((name) => {
        const url = new URL(world.env[name] as string);
        url.port = String(port);
        return [name, url.href];
      }),
    ),
  );
}

const faultPreload = join(import.meta.dirname, 'faults/inject.mjs');

/** Requests at all endpoints without an answer yet. */
export function deliveriesInFlight({ endpoints }: Site): number {
  return [...endpoints.values()].reduce((sum, endpoint) => sum + endpoint.inFlight(), 0);
}

/** A module that an app loads first. */
export const preloadPath = (name: string): string => join(import.meta.dirname, 'preload', name);
