import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import { clusterRefusal } from '@hqrelay/cache/cluster-refusal';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { ConfigCache, followProjectChanges } from '@hqrelay/cache/project-config';
import { clockWarning, measureClockOffset } from '@hqrelay/db/queries/clock-offset';
import { projectsWithKeys } from '@hqrelay/db/queries/idempotency-keys';
import { findOwedEndpoints } from '@hqrelay/db/queries/prior-webhooks';
import { configMacKeys } from '@hqrelay/domain/secrets/config-mac';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { diskWarning } from '@hqrelay/queue/connection/disk-warning';
import { Publisher } from '@hqrelay/queue/publishing/publisher';
import type { HealthDeps } from '@hqrelay/runtime/http/health';
import { createHttpServer, type HttpServer } from '@hqrelay/runtime/http/http-server';
import type { Logger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { StoreChecks, type StoreCheck } from '@hqrelay/runtime/store-checks';
import { createAdminApp, createApp } from './app.ts';
import { batchedQuery } from './batched-query.ts';
import type { ReceiverConfig } from './config.ts';
import { BodyReader } from './http/read-body.ts';
import { ingest, type IngestDeps } from './ingest/ingest.ts';
import { LastSeenTimes } from './ingest/last-seen.ts';
import { recordTooLarge } from './ingest/record-too-large.ts';
import { createRejectionBudget } from './ingest/rejection-budget.ts';
import { createReport, type ReceiverReport } from './report.ts';
import { createPostgresStore } from './reservation/postgres-store.ts';
import { createRedisStore } from './reservation/redis-store.ts';
import { RedisTrust } from './reservation/redis-trust.ts';
import { createStores, type Stores } from './stores.ts';

const unverifiedBytesMax = 256 << 20;
const publishConfirmTimeoutMs = 600;
const publishesInFlightMax = 5_000;
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
  /** Called with the reason when a store at the start is one that the receiver cannot work with. */
  refuse: (reason: string) => void;
};

/** Wires one receiver. Nothing connects or listens yet. */
export function createReceiver(
  config: ReceiverConfig,
  { logger, isDraining, refuse }: ReceiverOptions,
): Receiver {
  const registry = createRegistry();
  const report = createReport(logger, registry);
  const stores = createStores(config, logger, {
    postgres: () => void trust.learn(() => stores.postgres.tryWithin(2_000, projectsWithKeys)),
    redis: () => void trust.reportAll(),
  });
  const trust = new RedisTrust(stores.cache);

  const { cache, postgres } = stores;
  const configs = new ConfigCache({
    cache,
    keys: configMacKeys(parseSecretKeys(config.secretsKey)),
    ttlSeconds: config.configCacheTtlSeconds,
    onUntrusted: (projectId) => logger.warn({ projectId }, 'config_cache.untrusted_entry'),
  });
  const directory = new ProjectDirectory({ configs, postgres });
  const lastSeen = new LastSeenTimes(postgres);
  const deps = createIngestDeps(config, { ...stores, trust, directory, lastSeen, report, logger });
  const storeChecks = new StoreChecks({ checks: checksOf(stores, config), logger, refuse });
  const health: HealthDeps = {
    dependencies: {
      postgres: () => postgres.health,
      redis: () => cache.health,
      rabbitmq: () => stores.broker.health,
    },
    // Either store can make a webhook durable. Without both nothing can be accepted.
    isReady: (states) => states.postgres === 'up' || states.rabbitmq === 'up',
    isDraining,
    warnings: () => storeChecks.warnings,
    registry,
  };
  const hasAdminPort = config.receiverAdminPort !== undefined;
  const app = createApp({
    bodies: new BodyReader({ bodyBytesMax: config.bodyBytesMax, unverifiedBytesMax }),
    ingest: (request) => ingest(deps, request),
    recordTooLarge: (request, bytes) => recordTooLarge(deps, request, bytes),
    report: report.received,
    health,
    trustProxy: config.trustProxy,
    adminApart: hasAdminPort,
    logger,
  });
  const subscriber = cache.createSubscriber();
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
    server: createHttpServer(app),
    adminServer: hasAdminPort ? createHttpServer(createAdminApp(health)) : undefined,
    async disconnect() {
      storeChecks.stop();
      await deps.recorder.close();
      await lastSeen.write();
      clearInterval(writingLastSeen);
      subscriber.disconnect();
      await Promise.all([stores.broker.stop(), stores.cache.close(), stores.postgres.close()]);
    },
  };
}

function createIngestDeps(
  config: ReceiverConfig,
  parts: Stores & {
    trust: RedisTrust;
    directory: ProjectDirectory;
    lastSeen: LastSeenTimes;
    report: ReceiverReport;
    logger: Logger;
  },
): IngestDeps {
  const { postgres, cache, trust, directory, lastSeen, report, logger } = parts;
  const publisher = new Publisher({
    name: 'ingest',
    connection: parts.broker,
    confirmTimeoutMs: publishConfirmTimeoutMs,
    inFlightMax: publishesInFlightMax,
  });
  const recorder = new AuditRecorder({
    postgres,
    publisher,
    onSpilled: (rows) => logger.debug({ rows }, 'audit.spilled'),
    onParked: (row, reason) => logger.error({ kind: row.kind, reason }, 'audit.row_parked'),
    onBackgroundRowsLost: (rows) => logger.error({ rows }, 'audit.background_rows_lost'),
  });
  const postgresStore = createPostgresStore(postgres);
  const findOwed = batchedQuery(postgres, findOwedEndpoints);
  return {
    cache,
    postgres,
    trust,
    redisStore: createRedisStore({ cache, trust, findPrior: postgresStore.findPrior }),
    postgresStore,
    findOwed: (id) => findOwed(id).catch(() => undefined),
    publisher,
    recorder,
    secrets: new OpenedSecrets(parseSecretKeys(config.secretsKey), (error) =>
      logger.error({ err: error }, 'secret.unreadable'),
    ),
    findProject: (projectId, now) => directory.find(projectId, now),
    recordLater: (row) => recorder.recordLater(row),
    mayRecordRejection: createRejectionBudget(20, 200),
    onVerified: lastSeen.add,
    onPublished: report.published,
  };
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
