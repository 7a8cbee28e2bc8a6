import { join } from 'node:path';
import type { AppSource } from '@hqrelay/services/app-process';
import type { RunningServer } from '@hqrelay/services/running-server';
import { createWorld, type World } from '@hqrelay/testing/world';
import type { DurableServices } from '../../harness/durable-services.ts';
import { startFleet, type Fleet } from '../../harness/fleet.ts';
import { faultEnvironment, type InjectedFault } from '../faults/injected-fault.ts';

/** Two receivers and three workers, which rounds break and repair. */
export type OrderSite = Pick<Fleet, 'receivers' | 'workers'> & {
  world: World;
  server: (name: 'rabbitmq' | 'postgres') => RunningServer;
  /** Starts every server and app that a round left stopped. */
  repair: () => Promise<void>;
  close: () => Promise<void>;
};

export type OrderSiteOptions = {
  services: DurableServices;
  apps: AppSource;
  logFolder: string;
  /** The guard that the apps run without. */
  fault?: InjectedFault;
};

/** Of an app that starts while servers and other apps do. */
export const readyWithinMs = 90_000;

export async function openOrderSite({
  services,
  apps,
  logFolder,
  fault,
}: OrderSiteOptions): Promise<OrderSite> {
  const world = await createWorld(services.urls);
  try {
    const fleet = await startFleet({
      from: apps,
      receivers: 2,
      workers: 3,
      env: { ...world.env, ...faultEnvironment(fault) },
      logFolder,
      preload: fault ? [join(import.meta.dirname, '../faults/inject.mjs')] : [],
    });
    return {
      ...fleet,
      world,
      server: services.server,
      repair: () => repair(services, fleet),
      close: async () => {
        await fleet.end('SIGKILL');
        await services.restore();
        await world.close();
      },
    };
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function repair(services: DurableServices, { receivers, workers }: Fleet): Promise<void> {
  await services.restore();
  const apps = [...receivers, ...workers];
  for (const app of apps) if (!app.isRunning()) app.start();
  await Promise.all(apps.map((app) => app.waitUntilReady(readyWithinMs)));
}
