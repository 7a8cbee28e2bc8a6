import { join } from 'node:path';
import type { AppProcess, AppSource } from '@hqrelay/services/app-process';
import type { ServiceName } from '@hqrelay/services/private-services';
import type { RunningServer } from '@hqrelay/services/running-server';
import { startTcpProxy, type TcpProxy } from '@hqrelay/testing/network/tcp-proxy';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { DurableServices } from '../harness/durable-services.ts';
import { startFleet, type Fleet } from '../harness/fleet.ts';
import { addProject, changeEndpoint, type TargetProject } from '../harness/projects.ts';
import { faultEnvironment, type InjectedFault } from './faults/injected-fault.ts';
import { startEndpoint, type Endpoint, type HowToAnswer } from './endpoint.ts';

/** Everything one row works with, its own except for the servers. */
export type Site = {
  world: World;
  services: DurableServices;
  receivers: readonly AppProcess[];
  workers: readonly AppProcess[];
  projects: readonly TargetProject[];
  /** By the id in the tables. */
  endpoints: ReadonlyMap<string, Endpoint>;
  /** By name. */
  endpoint: (name: EndpointName) => Endpoint;
  /** Sets columns as the command line does: committed, and announced to the apps. */
  changeEndpoint: (name: EndpointName, changes: string) => Promise<void>;
  server: (name: ServiceName) => RunningServer;
  /** Between the apps and a service that the row named. */
  proxy: (name: ServiceName) => TcpProxy;
  /** Between each worker and Postgres, in the order of `workers`, where the row asked for them. */
  workerProxies: readonly TcpProxy[];
  close: () => Promise<void>;
};

type EndpointName = 'alone' | 'plain' | 'flaky' | 'slow' | 'open' | 'paused';

export type SiteOptions = {
  services: DurableServices;
  apps: AppSource;
  /** Services that the apps reach through a proxy. */
  proxied: readonly ServiceName[];
  /** Whether each worker reaches Postgres through a proxy of its own. */
  workersProxied: boolean;
  /** Modules that workers load first. */
  workerPreload: readonly string[];
  /** Whether some deliveries use up their schedule, and some are held. */
  everyEnd: boolean;
  /** The guard that the apps run without. */
  fault?: InjectedFault | undefined;
  logFolder: string;
};

const appsOfEach = 2;
const retry = '1s,2s,4s,8s';

/** Fails one first attempt in sixteen, and with `mayDie` every attempt of one webhook in sixty-four. */
const flaky =
  (mayDie: boolean): HowToAnswer =>
  (webhookId, attemptNum) => {
    if (mayDie && /[0-3]f$/.test(webhookId)) return { statusCode: 500, delayMs: 5 };
    return { statusCode: webhookId.endsWith('0') && attemptNum === 1 ? 503 : 200, delayMs: 5 };
  };

const always200 =
  (delayMs: number): HowToAnswer =>
  () => ({ statusCode: 200, delayMs });

type Target = { name: EndpointName; how: HowToAnswer; retry: string };

/** The endpoints of each project. */
function targetsOf(everyEnd: boolean): Target[][] {
  const target = (name: EndpointName, how = always200(15), schedule = retry) => ({
    name,
    how,
    retry: schedule,
  });
  return [
    [target('alone')],
    [target('plain'), target('flaky', flaky(everyEnd), everyEnd ? '1s,2s,4s' : '1s,1s')],
    [target('slow', always200(80))],
    ...(everyEnd ? [[target('open'), target('paused')]] : []),
  ];
}

/** Several projects with one to two endpoints, two receivers and two workers, ready. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const { services } = options;
  const world = await createWorld(services.urls);
  const proxies = new Map<ServiceName, TcpProxy>();
  const workerProxies: TcpProxy[] = [];
  const endpoints = new Map<string, Endpoint>();
  let fleet: Fleet | undefined;
  const close = async () => {
    await fleet?.end('SIGKILL');
    await Promise.all([...proxies.values(), ...workerProxies].map((proxy) => proxy.close()));
    await Promise.all([...endpoints.values()].map((each) => each.shut()));
    await world.close();
  };
  try {
    for (const name of options.proxied) proxies.set(name, await startTcpProxy(services.server(name).port));
    while (options.workersProxied && workerProxies.length < appsOfEach) {
      workerProxies.push(await startTcpProxy(services.server('postgres').port));
    }
    const projects = [];
    for (const targets of targetsOf(options.everyEnd)) {
      projects.push(await addTargets(world, targets, endpoints));
    }
    const idOf = (name: EndpointName) => [...endpoints].find(([, each]) => each.name === name)?.[0];
    if (options.everyEnd) await changeEndpoint(world, String(idOf('paused')), 'paused = true');
    fleet = await startFleet({
      from: options.apps,
      receivers: appsOfEach,
      workers: appsOfEach,
      env: { ...world.env, ...proxiedUrls(world, proxies), ...faultEnvironment(options.fault) },
      workerEnv: (index) =>
        proxiedUrls(
          world,
          new Map(workerProxies.slice(index, index + 1).map((proxy) => ['postgres', proxy])),
        ),
      logFolder: options.logFolder,
      workerPreload: options.workerPreload,
      preload: options.fault ? [faultPreload] : [],
    });
    return {
      world,
      services,
      receivers: fleet.receivers,
      workers: fleet.workers,
      projects,
      endpoints,
      endpoint: (name) => existing(endpoints.get(String(idOf(name))), `endpoint ${name}`),
      changeEndpoint: (name, changes) => changeEndpoint(world, String(idOf(name)), changes),
      server: services.server,
      proxy: (name) => existing(proxies.get(name), `proxy of ${name}`),
      workerProxies,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addTargets(
  world: World,
  targets: readonly Target[],
  endpoints: Map<string, Endpoint>,
): Promise<TargetProject> {
  const started = await Promise.all(targets.map(({ name, how }) => startEndpoint(name, how)));
  const project = await addProject(
    world,
    targets.map(({ retry }, index) => ({ url: existing(started[index], 'endpoint').url, retry })),
  );
  for (const [index, id] of project.endpointIds.entries()) {
    endpoints.set(id, existing(started[index], 'endpoint'));
  }
  return project;
}

function existing<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what} at this site`);
  return found;
}

function proxiedUrls(world: World, proxies: ReadonlyMap<ServiceName, TcpProxy>): Record<string, string> {
  const names = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', rabbitmq: 'RABBITMQ_URL' } as const;
  return Object.fromEntries(
    [...proxies].map(([service, { port }]) => {
      const url = new URL(world.env[names[service]] as string);
      url.port = String(port);
      return [names[service], url.href];
    }),
  );
}

const faultPreload = join(import.meta.dirname, 'faults/inject.mjs');

/** A module that an app loads first. */
export const preloadPath = (name: string): string => join(import.meta.dirname, 'preload', name);
