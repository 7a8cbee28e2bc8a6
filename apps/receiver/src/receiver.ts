import { clusterRefusal } from '@hqrelay/cache/cluster-refusal';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { ConfigCache, followProjectChanges } from '@hqrelay/cache/project-config';
import { clockWarning, measureClockOffset } from '@hqrelay/db/queries/clock-offset';
import { projectsWithKeys } from '@hqrelay/db/queries/idempotency-keys';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { diskWarning } from '@hqrelay/queue/connection/disk-warning';
import type { HealthDeps } from '@hqrelay/runtime/http/health';
import { createHttpServer, type HttpServer } from '@hqrelay/runtime/http/http-server';
import type { Logger } from '@hqrelay/runtime/logger';
import type { Spans } from '@hqrelay/runtime/tracing/spans';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { StoreChecks, type StoreCheck } from '@hqrelay/runtime/store-checks';
import { createAdminApp, createApp } from './app.ts';
import type { ReceiverConfig } from './config.ts';
import { BodyReader } from './http/body/read-body.ts';
import { createIngestDeps } from './ingest-deps.ts';
import { answerChallenge } from './ingest/answer-challenge.ts';
import { ingest, type IngestDeps } from './ingest/ingest.ts';
import { LastSeenTimes } from './ingest/last-seen.ts';
import { recordTooLarge } from './ingest/record-too-large.ts';
import { bodyLimitsFor } from './limits/body-limits.ts';
import { createReport, type ReceiverReport } from './report.ts';
import { RedisTrust } from './reservation/redis-trust.ts';
import { createStores, type Stores } from './stores.ts';

const writeLastSeenEveryMs = 5_000;

export type Receiver = {
  /** Connects to the stores. A store that is unavailable does not keep the receiver from starting. */
  connect: () => void;
  server: HttpServer;
  /** Answers metrics and readiness. Undefined where the public server does. */
  adminServer: HttpServer | undefined;
  /** Writes what is buffered, then closes the connections to the stores. */
  disconnect: () => Promise<void>;
};

export type ReceiverOptions = {
  logger: Logger;
  isDraining: () => boolean;
  /** Called with the reason when the check at the start finds a store that the receiver cannot work with. */
  refuse: (reason: string) => void;
  /** Undefined where nothing is traced. */
  spans?: Spans | undefined;
};

/** Wires one receiver. Nothing connects or listens yet. */
export function createReceiver(config: ReceiverConfig, options: ReceiverOptions): Receiver {
  const { logger, isDraining, refuse } = options;
  const registry = createRegistry();
  const report = createReport(logger, registry, options.spans);
  const stores = createStores(config, logger, {
    postgres: () => void trust.learn(() => readProjectsWithKeys(stores, logger)),
    redis: () => void trust.reportAll(),
  });
  const trust = new RedisTrust(stores.cache);

  const directory = createProjectDirectory(config, stores, logger);
  const lastSeen = new LastSeenTimes(stores.postgres);
  const deps = createIngestDeps(config, { ...stores, trust, directory, lastSeen, report, logger });
  const storeChecks = new StoreChecks({ checks: checksOf(stores, config), logger, refuse });
  const health = { ...healthOf(stores, storeChecks), isDraining, registry };
  const subscriber = stores.cache.createSubscriber();
  let writingLastSeen: NodeJS.Timeout | undefined;

  return {
    connect() {
      followProjectChanges(subscriber, (projectId) => directory.forget(projectId));
      stores.cache.start();
      stores.broker.start();
      void stores.postgres.start();
      writingLastSeen = setInterval(() => void writeLastSeen(lastSeen, logger), writeLastSeenEveryMs);
      storeChecks.start();
    },
    ...createServers(config, deps, { report, health, logger }),
    async disconnect() {
      storeChecks.stop();
      deps.thinned.flush();
      await deps.diagnoses.flush();
      await deps.recorder.close();
      await writeLastSeen(lastSeen, logger);
      clearInterval(writingLastSeen);
      subscriber.disconnect();
      await Promise.all([stores.broker.stop(), stores.cache.close(), stores.postgres.close()]);
    },
  };
}

function createProjectDirectory(
  { secretsKey, configCacheTtlSeconds }: ReceiverConfig,
  { cache, postgres }: Stores,
  logger: Logger,
): ProjectDirectory {
  const configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(secretsKey)),
    ttlSeconds: configCacheTtlSeconds,
    onUntrusted: (projectId) => logger.warn({ projectId }, 'config_cache.untrusted_entry'),
  });
  return new ProjectDirectory({ configs, postgres });
}

function healthOf(
  { postgres, cache, broker }: Stores,
  storeChecks: StoreChecks,
): Pick<HealthDeps, 'dependencies' | 'isReady' | 'warnings'> {
  return {
    dependencies: {
      postgres: () => postgres.health,
      redis: () => cache.health,
      rabbitmq: () => broker.health,
    },
    // Either store can make a webhook durable. Without both nothing can be accepted.
    isReady: (states) => states.postgres === 'up' || states.rabbitmq === 'up',
    warnings: () => storeChecks.warnings,
  };
}

function createServers(
  { bodyBytesMax, trustProxy, receiverAdminPort, receiverPort, publicUrl }: ReceiverConfig,
  deps: IngestDeps,
  { report, health, logger }: { report: ReceiverReport; health: HealthDeps; logger: Logger },
): Pick<Receiver, 'server' | 'adminServer'> {
  const adminApart = receiverAdminPort !== undefined;
  const { app, listener } = createApp({
    publicUrl: publicUrl ?? `http://127.0.0.1:${receiverPort}`,
    bodies: new BodyReader(bodyLimitsFor(bodyBytesMax)),
    ingest: (request) => ingest(deps, request),
    answerChallenge: (request) => answerChallenge(deps, request),
    recordTooLarge: (request, bytes) => recordTooLarge(deps, request, bytes),
    mayLogRefusal: (now) => deps.mayRecordRejection(null, now),
    report: report.received,
    health,
    trustProxy,
    adminApart,
    logger,
  });
  return {
    server: createHttpServer(app, { listener }),
    adminServer: adminApart ? createHttpServer(createAdminApp(health)) : undefined,
  };
}

/** Undefined when Postgres does not answer, or refuses the query. */
async function readProjectsWithKeys(
  { postgres }: Stores,
  logger: Logger,
): Promise<{ value: string[] } | undefined> {
  try {
    return await postgres.tryWithin(2_000, projectsWithKeys);
  } catch (error) {
    logger.warn({ err: error }, 'idempotency_keys.not_read');
    return undefined;
  }
}

async function writeLastSeen(lastSeen: LastSeenTimes, logger: Logger): Promise<void> {
  await lastSeen.write().catch((error: unknown) => logger.warn({ err: error }, 'last_seen.not_written'));
}

function checksOf({ postgres, cache }: Stores, { rabbitmqUrls }: ReceiverConfig): StoreCheck[] {
  return [
    {
      dependency: 'postgres',
      run: async () => clockWarning(await measureClockOffset(postgres.pool, Date.now)),
    },
    { dependency: 'redis', run: () => clusterRefusal(cache.redis), isFatal: true },
    { dependency: 'redis', run: () => evictionWarning(cache.redis) },
    { dependency: 'rabbitmq', run: () => diskWarning(rabbitmqUrls[0] as string) },
  ];
}
