import type { StoreHealth, StoreState } from '@hqrelay/flow/store-health';
import { Router } from 'express';
import { Gauge, type Registry } from 'prom-client';

export type DependencyName = 'postgres' | 'redis' | 'rabbitmq';
/** A blocked store counts as down: this process cannot use it. */
type DependencyState = Exclude<StoreState, 'blocked'>;

/** A store that serves, but is misconfigured. */
export type StoreWarning = { dependency: DependencyName; warning: string };

export interface HealthDeps {
  /** The stores that this process depends on. */
  dependencies: Readonly<Partial<Record<DependencyName, () => StoreHealth>>>;
  /** Whether this process can work with the stores in these states. */
  isReady: (states: Readonly<Partial<Record<DependencyName, DependencyState>>>) => boolean;
  isDraining: () => boolean;
  warnings: () => readonly StoreWarning[];
  registry: Registry;
}

/** `GET /health` alone: for a port whose readiness and metrics are on an admin port. */
export function createLivenessRouter(): Router {
  return Router().get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });
}

/**
 * `GET /health` (the process runs), `GET /health/ready` (200 `ready` or `degraded`: the process can work; 503 `unavailable` or
 * `draining`) and `GET /metrics`, with `hqrelay_dependency_up` registered.
 */
export function createHealthRouter({
  dependencies,
  isReady,
  isDraining,
  warnings,
  registry,
}: HealthDeps): Router {
  new Gauge({
    name: 'hqrelay_dependency_up',
    help: 'Whether this process can use the dependency: 1 up, 0 down or starting',
    labelNames: ['dependency'],
    registers: [registry],
    collect() {
      for (const { name, state } of readStates(dependencies))
        this.set({ dependency: name }, Number(state === 'up'));
    },
  });

  return createLivenessRouter()
    .get('/health/ready', (_request, response) => {
      const read = readStates(dependencies);
      const ready = isReady(Object.fromEntries(read.map(({ name, state }) => [name, state])));
      const status = isDraining()
        ? 'draining'
        : !ready
          ? 'unavailable'
          : read.every(({ state }) => state === 'up')
            ? 'ready'
            : 'degraded';
      response.status(ready && status !== 'draining' ? 200 : 503).json({
        status,
        dependencies: Object.fromEntries(read.map(({ name, ...health }) => [name, health])),
        warnings: warnings(),
      });
    })
    .get('/metrics', async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics());
    });
}

function readStates(dependencies: HealthDeps['dependencies']) {
  return Object.entries(dependencies).map(([name, healthOf]) => {
    const { state, detail, since } = healthOf();
    const dependencyState: DependencyState = state === 'blocked' ? 'down' : state;
    return { name, state: dependencyState, detail, since: new Date(since).toISOString() };
  });
}
