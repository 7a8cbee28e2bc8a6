import { AuditRecorder } from '@hqrelay/audit/audit-recorder';
import { Cache } from '@hqrelay/cache/client';
import { evictionWarning } from '@hqrelay/cache/eviction-warning';
import { leaveLiveWorkers } from '@hqrelay/cache/live-workers';
import { announceProjectChange, followProjectChanges } from '@hqrelay/cache/project-config';
import { Postgres } from '@hqrelay/db/postgres';
import { clockWarning } from '@hqrelay/db/queries/clock-offset';
import { disableEndpoint } from '@hqrelay/db/queries/disable-endpoint';
import { newId } from '@hqrelay/domain/ids';
import { parsePolicy } from '@hqrelay/domain/network/network-policy';
import { parseSecretKeys } from '@hqrelay/domain/secrets/secret-box';
import { createResolveHost } from '@hqrelay/outbound/names/resolve-host';
import { createSender } from '@hqrelay/outbound/send-request';
import { OpenedSecrets } from '@hqrelay/projects/opened-secrets';
import { ProjectDirectory } from '@hqrelay/projects/project-directory';
import { BrokerConnection } from '@hqrelay/queue/connection';
import { diskWarning } from '@hqrelay/queue/disk-warning';
import { Consumer } from '@hqrelay/queue/consumer';
import { Publisher } from '@hqrelay/queue/publisher';
import { describeConfig, exitOnConfigError } from '@hqrelay/runtime/env/env';
import { createHealthRouter } from '@hqrelay/runtime/http/health';
import { createHttpServer } from '@hqrelay/runtime/http/http-server';
import { createLogger } from '@hqrelay/runtime/logger';
import { createRegistry } from '@hqrelay/runtime/metrics';
import { createShutdown } from '@hqrelay/runtime/shutdown';
import { warnAtStart } from '@hqrelay/runtime/start-warnings';
import express from 'express';
import { Counter, Gauge } from 'prom-client';
import { readConfig } from './config.ts';
import { createHistories } from './delivery/delivery-histories.ts';
import { dispatch, type DispatchDeps } from './delivery/dispatch.ts';
import { EndpointGate } from './endpoint/endpoint-gate.ts';
import { createStoreHeld } from './outgoing/hold.ts';
import { jobsOf } from './jobs/jobs.ts';
import { inFlightMax, intakeOf, lanes, slotsTotal } from './intake/lanes.ts';
import { LiveFirst } from './intake/live-first.ts';
import { startMaintenance } from './jobs/runner.ts';
import type { Crew } from './jobs/count-workers.ts';
import { createBacklogGauges } from './jobs/measure-backlog.ts';
import { OneAtATime } from './delivery/one-at-a-time.ts';
import { createReport } from './report.ts';

const config = (() => {
  try {
    return readConfig();
  } catch (error) {
    return exitOnConfigError(error);
  }
})();
const logger = createLogger({ name: 'worker', level: config.logLevel });
const registry = createRegistry();
const shutdown = createShutdown({ logger, deadlineMs: 45_000 });
logger.info({ config: describeConfig(config) }, 'worker.starting');

const stateChange = (dependency: string) => (state: string, reason?: string) =>
  logger[state === 'up' ? 'info' : 'warn']({ dependency, state, reason }, 'dependency.changed');

const postgres = new Postgres({
  url: config.databaseUrl,
  applicationName: 'hqrelay-worker',
  max: 10,
  onChange: stateChange('postgres'),
});
const cache = new Cache({
  url: config.redisUrl,
  name: 'hqrelay-worker',
  onChange: stateChange('redis'),
  onRefused: (error) => logger.error({ err: error }, 'redis.command_refused'),
});
// Apart, because an alarm of the broker stops whoever publishes on a connection, acknowledgements included.
const publishing = new BrokerConnection({
  urls: config.rabbitmqUrls,
  name: 'hqrelay-worker publishing',
  onChange: stateChange('rabbitmq'),
});
const consuming = new BrokerConnection({
  urls: config.rabbitmqUrls,
  name: 'hqrelay-worker consuming',
  onChange: stateChange('rabbitmq consuming'),
});
const publisher = new Publisher({
  name: 'deliveries',
  connection: publishing,
  confirmTimeoutMs: 2_000,
  inFlightMax: 5_000,
});
const auditSpilled = new Counter({
  name: 'hqrelay_audit_spilled_total',
  help: 'Audit rows that went to the broker because Postgres did not take them',
  registers: [registry],
});
const recorder = new AuditRecorder({
  postgres,
  publisher,
  onSpilled: (rows) => auditSpilled.inc(rows),
  onParked: (row, reason) => logger.error({ kind: row.kind, reason }, 'audit.row_parked'),
  onBackgroundRowsLost: (rows) => logger.error({ rows }, 'audit.background_rows_lost'),
});
const directory = new ProjectDirectory({ cache, postgres, ttlSeconds: config.configCacheTtlSeconds });
const sender = createSender({
  policy: parsePolicy({
    allowPrivate: config.allowPrivateEndpoints,
    allowCidrs: config.allowEndpointCidrs,
  }),
  // All that can be in flight, so that no delivery waits for another's connection.
  connectionsPerOrigin: inFlightMax,
  idleConnectionsMax: 1_000,
  egressProxy: config.egressProxy,
  resolve: createResolveHost({ nameServers: config.dnsServers }),
});

const crew: Crew = { workerId: newId(), size: 1 };
const gate = new EndpointGate({
  postgres,
  now: Date.now,
  workers: () => crew.size,
  slotsTotal,
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

const liveFirst = new LiveFirst(Date.now);
const deps: DispatchDeps = {
  oneAtATime: new OneAtATime(),
  liveFirst,
  postgres,
  publisher,
  recorder,
  readHistory: createHistories(postgres),
  storeHeld: createStoreHeld(postgres, Date.now),
  gate,
  sender,
  secrets: new OpenedSecrets(parseSecretKeys(config.secretsKey), (error) =>
    logger.error({ err: error }, 'secret.unreadable'),
  ),
  findProject: (projectId, now) => directory.find(projectId, now),
  disableEndpoint: async (projectId, endpointId, reason) => {
    const done = await postgres.tryWithin(2_000, (pool) => disableEndpoint(pool, endpointId, reason));
    if (!done) return;
    directory.forget(projectId);
    // The others hear of it when their entries run out, if Redis is away.
    await announceProjectChange(cache.redis, projectId).catch(() => {});
    logger.warn({ projectId, endpointId, reason }, 'endpoint.disabled');
  },
  report: createReport(logger, registry),
  onUnreadable: (reason) => logger.error({ reason }, 'message.unreadable'),
  now: Date.now,
  random: Math.random,
};

const consumers = lanes.map(
  (lane) =>
    new Consumer({
      queue: lane.queue,
      connection: consuming,
      ...intakeOf(lane, config.bodyBytesMax),
      handle: async (message) =>
        lane.isLive || (await liveFirst.turn()) ? dispatch(deps, message) : 'requeue',
      onError: (error) => logger.error({ err: error, queue: lane.queue }, 'delivery.failed_here'),
    }),
);
new Gauge({
  name: 'hqrelay_deliveries_in_flight',
  help: 'Messages this worker is working on',
  registers: [registry],
  collect() {
    this.set(consumers.reduce((sum, { inFlight }) => sum + inFlight, 0));
  },
});

const subscriber = cache.createSubscriber();
followProjectChanges(subscriber, (projectId) => directory.forget(projectId));
cache.start();
publishing.start();
consuming.start();
void postgres.start();

const maintenance = startMaintenance(
  jobsOf({
    postgres,
    cache,
    connection: publishing,
    publisher,
    gate,
    crew,
    gauges: createBacklogGauges(registry),
    logger,
    now: Date.now,
  }),
  logger,
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

const app = express();
app.use(
  createHealthRouter({
    dependencies: {
      postgres: () => postgres.health,
      redis: () => cache.health,
      rabbitmq: () =>
        consumers.every((each) => each.isConsuming)
          ? publishing.health
          : {
              state: 'down',
              detail: consuming.health.detail ?? 'a queue is not consumed',
              since: consuming.health.since,
              isUp: false,
            },
    },
    isReady: (states) => states.rabbitmq === 'up',
    isDraining: () => shutdown.isDraining(),
    registry,
  }),
);
const server = createHttpServer(app);

shutdown.add('stores', async () => {
  await recorder.close();
  subscriber.disconnect();
  await cache.tryCommand((redis) => leaveLiveWorkers(redis, crew.workerId));
  await Promise.all([publishing.stop(), cache.close(), postgres.close()]);
});
// Watched until all is done.
shutdown.add('server', async () => void (await server.close(1_000)));
shutdown.add('maintenance', () => maintenance.stop());
// First of all: from now on nothing is begun here.
shutdown.add('consumers', async () => {
  liveFirst.stop();
  gate.stop();
  await Promise.all(consumers.map((each) => each.drain(30_000)));
  // What has not ended by now is given up, and its messages go back.
  sender.abort();
  await Promise.all(consumers.map((each) => each.drain(3_000)));
  // Only now: what was never started goes back in order.
  await consuming.stop();
  await sender.close();
});

try {
  const port = await server.listen(config.workerPort);
  logger.info({ port }, 'worker.listening');
} catch (error) {
  logger.fatal({ err: error }, 'worker.not_started');
  process.stderr.write(`worker: ${(error as Error).message}\n`);
  process.exit(1);
}
