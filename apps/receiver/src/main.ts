import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import { Cache, connectRedis } from '@hqrelay/cache/client';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { followProjectChanges } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { clockWarning } from '@hqrelay/db/queries/clock-offset';
import { projectsWithClaims } from '@hqrelay/db/queries/idempotency-keys';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { BrokerConnection } from '@hqrelay/queue/connection';
import { diskWarning } from '@hqrelay/queue/disk-warning';
import { Publisher } from '@hqrelay/queue/publisher';
import { describeConfig, exitOnConfigError } from '@hqrelay/runtime/env/env';
import { createHttpServer } from '@hqrelay/runtime/http/http-server';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { createShutdown } from '@hqrelay/runtime/shutdown';
import { warnAtStart } from '@hqrelay/runtime/start-warnings';
import { createAdminApp, createApp } from './app.ts';
import { readConfig } from './config.ts';
import { ingest, type IngestDeps } from './ingest/ingest.ts';
import { LastSeenTimes } from './ingest/last-seen.ts';
import { recordTooLarge } from './ingest/record-too-large.ts';
import { BodyReader } from './http/read-body.ts';
import { createPostgresClaims } from './reservation/postgres-claims.ts';
import { RedisMemory } from './reservation/redis-memory.ts';
import { createRejectionBudget } from './ingest/rejection-budget.ts';
import { createReport } from './report.ts';

const config = (() => {
  try {
    return readConfig();
  } catch (error) {
    return exitOnConfigError(error);
  }
})();
const logger = createLogger({ name: 'receiver', level: config.logLevel });
const registry = createRegistry();
const report = createReport(logger, registry);
const shutdown = createShutdown({ logger, deadlineMs: 20_000 });
logger.info({ config: describeConfig(config) }, 'receiver.starting');

const stateChange = (dependency: string) => (state: string, reason?: string) =>
  logger[state === 'up' ? 'info' : 'warn']({ dependency, state, reason }, 'dependency.changed');

const postgres = new Postgres({
  url: config.databaseUrl,
  applicationName: 'hqrelay-receiver',
  max: 8,
  onChange: (state, reason) => {
    stateChange('postgres')(state, reason);
    if (state === 'up') void redisMemory.learn(() => postgres.tryWithin(2_000, projectsWithClaims));
  },
});
const cache = new Cache({
  url: config.redisUrl,
  name: 'hqrelay-receiver',
  onChange: (state, reason) => {
    stateChange('redis')(state, reason);
    if (state === 'up') void redisMemory.cameBack();
  },
});
const redisMemory = new RedisMemory(cache);
cache.redis.on('close', () => redisMemory.wasLost());
const broker = new BrokerConnection({
  urls: config.rabbitmqUrls,
  name: 'hqrelay-receiver',
  onChange: stateChange('rabbitmq'),
});
const publisher = new Publisher({
  name: 'ingest',
  connection: broker,
  confirmTimeoutMs: 600,
  inFlightMax: 5_000,
});
const recorder = new AuditRecorder({
  postgres,
  publisher,
  onSpilled: (rows) => logger.debug({ rows }, 'audit.spilled'),
  onParked: (row, reason) => logger.error({ kind: row.kind, reason }, 'audit.row_parked'),
  onBackgroundRowsLost: (rows) => logger.error({ rows }, 'audit.background_rows_lost'),
});
const directory = new ProjectDirectory({ cache, postgres, ttlSeconds: config.configCacheTtlSeconds });
const lastSeen = new LastSeenTimes(postgres);
const bodies = new BodyReader({ bodyBytesMax: config.bodyBytesMax, unverifiedBytesMax: 256 << 20 });

const deps: IngestDeps = {
  cache,
  postgres,
  postgresClaims: createPostgresClaims(postgres),
  redisMemory,
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

const health = {
  dependencies: {
    postgres: () => postgres.health,
    redis: () => cache.health,
    rabbitmq: () => broker.health,
  },
  // Either store can make a webhook durable; without both nothing can be accepted.
  isReady: (states: { postgres?: string; rabbitmq?: string }) =>
    states.postgres === 'up' || states.rabbitmq === 'up',
  isDraining: () => shutdown.isDraining(),
  registry,
};
const app = createApp({
  bodies,
  ingest: (request) => ingest(deps, request),
  recordTooLarge: (request, bytes) => recordTooLarge(deps, request, bytes),
  report: report.received,
  health,
  trustProxy: config.trustProxy,
  adminApart: config.receiverAdminPort !== undefined,
  logger,
});

const subscriber = connectRedis(config.redisUrl, 'hqrelay-receiver-changes');
followProjectChanges(subscriber, (projectId) => directory.forget(projectId));
cache.start();
broker.start();
void postgres.start();
const writingLastSeen = setInterval(
  () => void lastSeen.write().catch((error: unknown) => logger.warn({ err: error }, 'last_seen.not_written')),
  5_000,
);

warnAtStart(
  [
    { dependency: 'postgres', check: () => clockWarning(postgres.pool, Date.now) },
    { dependency: 'redis', check: () => evictionWarning(cache.redis) },
    { dependency: 'rabbitmq', check: () => diskWarning(config.rabbitmqUrls[0] as string) },
  ],
  logger,
  () => shutdown.isDraining(),
);

shutdown.add('stores', async () => {
  await recorder.close();
  await lastSeen.write();
  clearInterval(writingLastSeen);
  subscriber.disconnect();
  await Promise.all([broker.stop(), cache.close(), postgres.close()]);
});

try {
  if (config.receiverAdminPort !== undefined) {
    const admin = createHttpServer(createAdminApp(health));
    await admin.listen(config.receiverAdminPort);
    shutdown.add('admin server', async () => void (await admin.close(1_000)));
  }
  const server = createHttpServer(app);
  const port = await server.listen(config.receiverPort);
  shutdown.add('server', async () => {
    const { connectionsCut } = await server.close(10_000);
    if (connectionsCut) logger.warn('receiver.connections_cut');
  });
  logger.info({ port }, 'receiver.listening');
} catch (error) {
  logger.fatal({ err: error }, 'receiver.not_started');
  process.stderr.write(`receiver: ${(error as Error).message}\n`);
  process.exit(1);
}
