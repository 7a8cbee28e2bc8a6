import { clusterRefusal } from '@hqrelay/cache/cluster-refusal';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { leaveLiveWorkers } from '@hqrelay/cache/live-workers';
import { ConfigCache, followProjectChanges } from '@hqrelay/cache/project-config';
import { clockWarning, measureClockOffset } from '@hqrelay/db/queries/clock-offset';
import { countPartitionsAhead, partitionsWarning } from '@hqrelay/db/queries/partitions';
import { newId } from '@hqrelay/domain/ids';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createResolveHost } from '@hqrelay/outbound/names/resolve-host';
import { createSender } from '@hqrelay/outbound/send-request';
import type { StoreHealth } from '@hqrelay/flow/store-health';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { Consumer } from '@hqrelay/queue/consumer';
import { diskWarning } from '@hqrelay/queue/disk-warning';
import type { HealthDeps } from '@hqrelay/runtime/http/health';
import type { Logger } from '@hqrelay/runtime/logger';
import type { Registry } from '@hqrelay/runtime/metrics';
import { StoreChecks } from '@hqrelay/runtime/store-checks';
import { Gauge } from 'prom-client';
import type { WorkerConfig } from './config.ts';
import { createReadHistory, createReadHistoryOfAnyTime } from './delivery/read-history.ts';
import { createDisableEndpoint } from './delivery/disable-endpoint.ts';
import { dispatch, type DispatchDeps } from './delivery/dispatch.ts';
import { EndpointGate } from './endpoint/endpoint-gate.ts';
import { lanesOf, type Lane } from './intake/lanes.ts';
import { LiveFirst } from './intake/live-first.ts';
import type { Fleet } from './jobs/count-workers.ts';
import { createJobs } from './jobs/jobs.ts';
import { createBacklogGauges } from './jobs/measure-backlog.ts';
import { createJobRunner } from './jobs/runner.ts';
import { createStoreHeld } from './outgoing/hold.ts';
import { createReport } from './report.ts';
import { createStores, type Stores } from './stores.ts';

export type WorkerOptions = {
  logger: Logger;
  registry: Registry;
  /** Called with the reason when a store at the start is one that the worker cannot work with. */
  refuse: (reason: string) => void;
  /** ms since epoch. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
};

/** Something with a lifecycle. `stop` is also called when it was never started. */
export type Part = {
  name: string;
  start: () => void | Promise<void>;
  stop: () => void | Promise<void>;
};

export type Worker = ReturnType<typeof createWorker>;

/** The wiring of a worker. Nothing happens before its `parts` are started, in their order. */
export function createWorker(config: WorkerConfig, options: WorkerOptions) {
  const { logger, registry, now, random } = options;
  const stores = createStores(config, options);
  const { postgres, cache, publisher, recorder } = stores;
  const configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(config.secretsKey)),
    ttlSeconds: config.configCacheTtlSeconds,
    onUntrusted: (projectId) => logger.warn({ projectId }, 'config_cache.untrusted_entry'),
  });
  const directory = new ProjectDirectory({ configs, postgres });
  const fleet: Fleet = { workerId: newId(), size: 1 };
  const lanes = lanesOf(config.bodyBytesMax);
  const gate = createGate(stores, options, { fleet, lanes });
  const liveFirst = new LiveFirst(now);
  const deps: DispatchDeps = {
    inFlight: new Set(),
    liveFirst,
    postgres,
    publisher,
    recorder,
    readHistory: createReadHistory(postgres),
    readHistoryOfAnyTime: createReadHistoryOfAnyTime(postgres),
    storeHeld: createStoreHeld(postgres, now),
    gate,
    sender: createSender({
      policy: parsePolicy({
        allowPrivate: config.allowPrivateEndpoints,
        allowCidrs: config.allowEndpointCidrs,
      }),
      // As many as can be in flight, so that no delivery waits for the connection of another.
      connectionsPerOrigin: lanes.reduce((sum, { prefetch }) => sum + prefetch, 0),
      idleConnectionsMax: 1_000,
      egressProxy: config.egressProxy,
      resolve: createResolveHost({ nameServers: config.dnsServers }),
    }),
    secrets: new OpenedSecrets(parseSecretKeys(config.secretsKey), (error) =>
      logger.error({ err: error }, 'secret.unreadable'),
    ),
    findProject: (projectId, at) => directory.find(projectId, at),
    disableEndpoint: createDisableEndpoint({ postgres, cache, directory, logger }),
    report: createReport(logger, registry),
    onUnreadable: (reason) => logger.error({ reason }, 'message.unreadable'),
    now,
    random,
  };
  const consumers = createConsumers(lanes, options, stores, deps);
  const jobs = createJobs({
    postgres,
    cache,
    connection: stores.publishing,
    publisher,
    gate,
    fleet,
    gauges: createBacklogGauges(registry),
    logger,
    payloadRetentionDays: config.payloadRetentionDays,
    now,
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
      jobs: { name: 'jobs', ...createJobRunner(jobs, logger) },
      intake: intakePart(stores, deps, consumers),
      storeChecks: {
        name: 'store checks',
        start: () => storeChecks.start(),
        stop: () => storeChecks.stop(),
      },
    } satisfies Record<string, Part>,
  };
}

function createGate(
  { postgres }: Stores,
  { logger, registry, now }: WorkerOptions,
  { fleet, lanes }: { fleet: Fleet; lanes: readonly Lane[] },
) {
  const gate = new EndpointGate({
    postgres,
    now,
    workers: () => fleet.size,
    slots: Object.fromEntries(lanes.map(({ queue, slots }) => [queue, slots])),
    onChange: (endpointId, state) => logger.warn({ endpointId, state }, 'endpoint.breaker'),
    onError: (error) => logger.error({ err: error }, 'breaker.not_stored'),
  });
  new Gauge({
    name: 'hqrelay_breakers_open',
    help: 'Endpoints that fail and are tried by one delivery at a time',
    registers: [registry],
    collect() {
      this.set(gate.breakers.openCount);
    },
  });
  return gate;
}

function createConsumers(
  lanes: readonly Lane[],
  { logger, registry }: WorkerOptions,
  { consuming }: Stores,
  deps: DispatchDeps,
): readonly Consumer[] {
  const consumers = lanes.map(({ isLive, queue, prefetch, messageBytesMax }) => {
    const entrance = deps.gate.entrance(queue);
    return new Consumer({
      queue,
      prefetch,
      messageBytesMax,
      connection: consuming,
      handle: async (message) =>
        isLive || (await deps.liveFirst.turn()) ? dispatch(deps, { ...message, entrance }) : 'requeue',
      onError: (error) => logger.error({ err: error, queue }, 'delivery.failed_here'),
    });
  });
  new Gauge({
    name: 'hqrelay_deliveries_in_flight',
    help: 'Messages this worker is working on',
    registers: [registry],
    collect() {
      this.set(consumers.reduce((sum, { inFlight }) => sum + inFlight, 0));
    },
  });
  return consumers;
}

function storesPart(
  { postgres, cache, publishing, recorder }: Stores,
  { directory, fleet }: { directory: ProjectDirectory; fleet: Fleet },
): Part {
  let subscriber: ReturnType<typeof cache.createSubscriber> | undefined;
  return {
    name: 'stores',
    start: () => {
      subscriber = cache.createSubscriber();
      followProjectChanges(subscriber, (projectId) => directory.forget(projectId));
      cache.start();
      publishing.start();
      void postgres.start();
    },
    stop: async () => {
      await recorder.close();
      subscriber?.disconnect();
      await cache.tryCommand((redis) => leaveLiveWorkers(redis, fleet.workerId));
      await Promise.all([publishing.stop(), cache.close(), postgres.close()]);
    },
  };
}

function intakePart(
  { consuming }: Stores,
  { liveFirst, gate, sender }: DispatchDeps,
  consumers: readonly Consumer[],
): Part {
  const drain = (deadlineMs: number) => Promise.all(consumers.map((each) => each.drain(deadlineMs)));
  return {
    name: 'intake',
    start: () => consuming.start(),
    stop: async () => {
      liveFirst.stop();
      gate.stop();
      await drain(30_000);
      // Requests that have not ended by now are given up, and their messages are requeued.
      sender.abort();
      await drain(3_000);
      // Messages that were never begun are requeued last, in their order.
      await consuming.stop();
      await sender.close();
    },
  };
}

function healthOf(
  { postgres, cache, publishing, consuming }: Stores,
  consumers: readonly Consumer[],
): Pick<HealthDeps, 'dependencies' | 'isReady'> {
  const consumingHealth = (): StoreHealth => ({
    state: 'down',
    isUp: false,
    detail: consuming.health.detail ?? 'a queue is not consumed',
    since: consuming.health.since,
  });
  return {
    dependencies: {
      postgres: () => postgres.health,
      redis: () => cache.health,
      rabbitmq: () =>
        consumers.every(({ isConsuming }) => isConsuming) ? publishing.health : consumingHealth(),
    },
    isReady: (states) => states.rabbitmq === 'up',
  };
}

function createStoreChecks(
  { rabbitmqUrls }: WorkerConfig,
  { logger, registry, refuse, now }: WorkerOptions,
  { postgres, cache }: Stores,
): StoreChecks {
  const clockOffset = new Gauge({
    name: 'hqrelay_clock_offset_seconds',
    help: "By how much this machine's clock is ahead of Postgres'; negative when it is behind",
    registers: [registry],
  });
  const partitionsAhead = new Gauge({
    name: 'hqrelay_partitions_ahead',
    help: 'Months after this one that have partitions of every audit table',
    registers: [registry],
  });
  return new StoreChecks({
    checks: [
      {
        dependency: 'postgres',
        run: async () => {
          const ahead = await countPartitionsAhead(postgres.pool, now());
          partitionsAhead.set(ahead);
          return partitionsWarning(ahead);
        },
      },
      {
        dependency: 'postgres',
        run: async () => {
          const measured = await measureClockOffset(postgres.pool, now);
          clockOffset.set(measured.offsetMs / 1_000);
          return clockWarning(measured);
        },
      },
      { dependency: 'redis', run: () => clusterRefusal(cache.redis), isFatal: true },
      { dependency: 'redis', run: () => evictionWarning(cache.redis) },
      { dependency: 'rabbitmq', run: () => diskWarning(rabbitmqUrls[0] as string) },
    ],
    logger,
    refuse,
  });
}
