import { Router } from 'express';
import { Gauge, type Registry } from 'prom-client';

export type DependencyName = 'postgres' | 'redis' | 'rabbitmq';
export type DependencyState = 'up' | 'down' | 'starting';
type DependencyStates = Readonly<Partial<Record<DependencyName, DependencyState>>>;

/** A store this process depends on, as its client sees it right now: reading the state costs no I/O. */
export interface Dependency {
  readonly name: DependencyName;
  state(): DependencyState;
  readonly detail?: string | undefined;
}

export interface HealthDeps {
  dependencies: readonly Dependency[];
  /** Whether this process can do its job with the stores in these states. */
  isReady: (states: DependencyStates) => boolean;
  isDraining: () => boolean;
  registry: Registry;
}

/** `GET /health` alone: for a port whose other answers live on an admin port. */
export function createLivenessRouter(): Router {
  return Router().get('/health', (_request, response) => {
    response.json({ status: 'ok' });
  });
}

/**
 * `GET /health` (the process lives), `GET /health/ready` (200 `ready` or `degraded`: it can do its job;
 * 503 `unavailable` or `draining`) and `GET /metrics`, with `hqrelay_dependency_up` registered on it.
 */
export function createHealthRouter({ dependencies, isReady, isDraining, registry }: HealthDeps): Router {
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
        dependencies: Object.fromEntries(read.map(({ name, state, detail }) => [name, { state, detail }])),
      });
    })
    .get('/metrics', async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics());
    });
}

function readStates(dependencies: readonly Dependency[]) {
  return dependencies.map((dependency) => ({
    name: dependency.name,
    state: dependency.state(),
    detail: dependency.detail,
  }));
}
