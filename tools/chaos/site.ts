import { join } from 'node:path';
import { announceProjectChange } from '@hqrelay/cache/project-config';
import type { RunningServer } from '@hqrelay/services/running-server';
import { seedEndpoint, seedProject, type SeededProject } from '@hqrelay/testing/seed';
import { createWorld, type World } from '@hqrelay/testing/world';
import { Redis } from 'ioredis';
import { createApp, type App, type AppKind, type AppSource } from './app.ts';
import { startBlackHole, type BlackHole } from './black-hole.ts';
import { startEndpoint, type Endpoint, type HowToAnswer } from './endpoint.ts';
import type { ChaosServices } from './services.ts';
import { trustRedis } from './trust-redis.ts';

export type ServiceName = 'postgres' | 'redis' | 'rabbitmq';

/** A project, and what each of its webhooks owes. */
export type SiteProject = SeededProject & { endpointIds: string[] };

/** Everything one row works with, its own but for the servers. */
export type Site = {
  world: World;
  services: ChaosServices;
  receivers: readonly App[];
  workers: readonly App[];
  projects: readonly SiteProject[];
  /** By the id in the tables. */
  endpoints: ReadonlyMap<string, Endpoint>;
  /** By name. */
  endpoint: (name: EndpointName) => Endpoint;
  /** As the command line changes it: committed, and announced. */
  changeEndpoint: (name: EndpointName, changes: string) => Promise<void>;
  server: (name: ServiceName) => RunningServer;
  /** Between the apps and the services that the row named. */
  blackHole: (name: ServiceName) => BlackHole;
  close: () => Promise<void>;
};

type EndpointName = 'alone' | 'plain' | 'flaky' | 'slow' | 'open' | 'paused';

export type SiteOptions = {
  services: ChaosServices;
  apps: AppSource;
  /** Services that the apps reach through a proxy of ours. */
  proxied: readonly ServiceName[];
  /** Modules that workers load first. */
  workerPreload: readonly string[];
  /** Whether some deliveries use up their schedule, and some are held. */
  everyEnd: boolean;
  logFolder: string;
};

const appsOfEach = 2;

/** Fails one first attempt in sixteen; and, where the row has time for it, every attempt of one webhook in sixty-four. */
const flaky =
  (mayDie: boolean): HowToAnswer =>
  (webhookId, attemptNum) => {
    if (mayDie && /[0-3]f$/.test(webhookId)) return { statusCode: 500, delayMs: 5 };
    return { statusCode: webhookId.endsWith('0') && attemptNum === 1 ? 503 : 200, delayMs: 5 };
  };

const always200 =
  (delayMs: number): HowToAnswer =>
  () => ({ statusCode: 200, delayMs });

/** Several projects with one to two endpoints, two receivers and two workers, ready. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const { services, everyEnd } = options;
  const world = await createWorld(services.urls);
  const holes = new Map<ServiceName, BlackHole>();
  const apps: App[] = [];
  const endpoints = new Map<string, Endpoint>();
  const close = async () => {
    await Promise.all(apps.filter((app) => app.isRunning()).map((app) => app.kill()));
    for (const hole of holes.values()) hole.close();
    await Promise.all([...endpoints.values()].map((each) => each.shut()));
    await world.close();
  };
  try {
    for (const name of options.proxied) holes.set(name, await startBlackHole(services.server(name).port));
    const retry = '1s,2s,4s,8s';
    const projects: SiteProject[] = [];
    const addProject = async (targets: [EndpointName, HowToAnswer, string][]) => {
      const project = await seedProject(world);
      const endpointIds: string[] = [];
      for (const [name, how, schedule] of targets) {
        const endpoint = await startEndpoint(name, how);
        const { id } = await seedEndpoint(world, project.id, { url: endpoint.url, retry: schedule });
        endpoints.set(id, endpoint);
        endpointIds.push(id);
        if (name === 'paused')
          await world.sql.query('update endpoints set paused = true where id = $1', [id]);
      }
      projects.push({ ...project, endpointIds });
    };
    await addProject([['alone', always200(15), retry]]);
    await addProject([
      ['plain', always200(15), retry],
      ['flaky', flaky(everyEnd), everyEnd ? '1s,2s,4s' : '1s,1s'],
    ]);
    await addProject([['slow', always200(80), retry]]);
    if (everyEnd) {
      await addProject([
        ['open', always200(15), retry],
        ['paused', always200(15), retry],
      ]);
    }

    await trustRedis(
      world.redisUrl,
      projects.map(({ id }) => id),
    );

    const env = { ...world.env, ...proxiedUrls(world, holes), LOG_LEVEL: 'info' };
    const start = async (kind: AppKind, number: number) => {
      const app = await createApp({
        kind,
        name: `${kind} ${number}`,
        from: options.apps,
        env,
        logFolder: options.logFolder,
        preload: kind === 'worker' ? options.workerPreload : [],
      });
      apps.push(app);
      app.start();
      return app;
    };
    const numbers = Array.from({ length: appsOfEach }, (_, index) => index + 1);
    const receivers = await Promise.all(numbers.map((number) => start('receiver', number)));
    const workers = await Promise.all(numbers.map((number) => start('worker', number)));
    await Promise.all(apps.map((app) => app.untilReady()));
    return {
      world,
      services,
      receivers,
      workers,
      projects,
      endpoints,
      endpoint: (name) => {
        const found = [...endpoints.values()].find((each) => each.name === name);
        if (!found) throw new Error(`no endpoint ${name} at this site`);
        return found;
      },
      changeEndpoint: async (name, changes) => {
        const id = [...endpoints].find(([, each]) => each.name === name)?.[0];
        const { rows } = await world.sql.query<{ projectId: string }>(
          `update endpoints set ${changes} where id = $1 returning project_id as "projectId"`,
          [id],
        );
        const redis = new Redis(world.redisUrl);
        for (const { projectId } of rows) await announceProjectChange(redis, projectId);
        redis.disconnect();
      },
      server: services.server,
      blackHole: (name) => {
        const hole = holes.get(name);
        if (!hole) throw new Error(`${name} is not proxied at this site`);
        return hole;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function proxiedUrls(world: World, holes: ReadonlyMap<ServiceName, BlackHole>): Record<string, string> {
  const names = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', rabbitmq: 'RABBITMQ_URL' } as const;
  return Object.fromEntries(
    [...holes].map(([service, hole]) => {
      const url = new URL(world.env[names[service]] as string);
      url.port = String(hole.port);
      return [names[service], url.href];
    }),
  );
}

/** A module of ours that an app loads first. */
export const preloadPath = (name: string): string => join(import.meta.dirname, 'preload', name);
