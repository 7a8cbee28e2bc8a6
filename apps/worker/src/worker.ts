import { newId } from '@hqrelay/domain/ids';
import type { WorkerConfig } from './config.ts';
import { lanesOf } from './intake/lanes.ts';
import type { Fleet } from './jobs/count-workers.ts';
import { createJobs } from './jobs/jobs.ts';
import { createBacklogGauges } from './jobs/measure-backlog.ts';
import { createJobRunner } from './jobs/runner.ts';
import { alertsOf } from './wiring/alerts.ts';
import { createConsumers, intakePart } from './wiring/consumers.ts';
import { createDispatchDeps } from './wiring/dispatch-deps.ts';
import { createGate } from './wiring/gate.ts';
import { healthOf } from './wiring/health.ts';
import type { Part } from './wiring/part.ts';
import { createProjectDirectory } from './wiring/project-directory.ts';
import { createStoreChecks, storeChecksPart } from './wiring/store-checks.ts';
import { storesPart } from './wiring/stores-part.ts';
import { createStores } from './wiring/stores.ts';
import type { WorkerOptions } from './wiring/worker-options.ts';

export type Worker = ReturnType<typeof createWorker>;

/** Wires a worker. Nothing connects or consumes before its parts are started, in their order. */
export function createWorker(config: WorkerConfig, options: WorkerOptions) {
  const stores = createStores(config, options);
  const directory = createProjectDirectory(config, options, stores);
  const fleet: Fleet = { workerId: newId(options.now()), size: 1 };

  const lanes = lanesOf(config.bodyBytesMax);
  const gate = createGate(stores, options, { fleet, lanes });
  const deps = createDispatchDeps(config, options, stores, { directory, gate, lanes });
  const consumers = createConsumers(lanes, options, stores, deps);
  const jobs = createJobs({
    ...stores,
    connection: stores.publishing,
    consumers,
    gate,
    fleet,
    gauges: createBacklogGauges(options.registry),
    logger: options.logger,
    payloadRetentionDays: config.payloadRetentionDays,
    alerts: alertsOf(config, deps.sender),
    now: options.now,
  });
  const storeChecks = createStoreChecks(config, options, stores);
  return {
    ...stores,
    directory,
    fleet,
    gate,
    deps,
    consumers,
    jobs,
    health: { ...healthOf(stores, consumers), warnings: () => storeChecks.warnings },
    parts: {
      stores: storesPart(stores, { directory, fleet }),
      jobs: { name: 'jobs', ...createJobRunner(jobs, options.logger) },
      intake: intakePart(stores, deps, consumers),
      storeChecks: storeChecksPart(storeChecks),
    } satisfies Record<string, Part>,
  };
}
